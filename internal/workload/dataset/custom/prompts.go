package custom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// Formats of files that contain only prompts.
const (
	linesType = "text_lines"
	tableType = "text_table"
)

// maxPrompts and maxPromptBytes limit the prompts of such a file in memory. A conversion to single_turn has no limit.
const (
	maxPrompts     = 1_000_000
	maxPromptBytes = 256 << 20
)

// eachPrompt calls f for every prompt of a file with its position, until f returns false.
type eachPrompt func(path, column string, f func(where, text string) bool) error

// readPrompts reads a file with one prompt per row.
func readPrompts(each eachPrompt) func(*loader, string) error {
	return func(l *loader, path string) error {
		size, count := 0, 0
		over := false
		err := each(path, l.InputColumn, func(where, text string) bool {
			l.prompt(where, text)
			count, size = count+1, size+len(text)
			over = l.sink == nil && (count > maxPrompts || size > maxPromptBytes)
			return !over && !l.faults.Enough()
		})
		if err == nil && over {
			err = fmt.Errorf("%s: more than %d prompts or %d MiB of text; convert the file to %s (aiperf dataset convert), which has no such limit", path, maxPrompts, maxPromptBytes>>20, singleType)
		}
		return withSpelling(err, l.Spell)
	}
}

// prompt adds a conversation with one prompt.
func (l *loader) prompt(where, text string) {
	l.rowNo++
	if l.Reading != nil && l.rowNo%rowsPerReport == 0 {
		l.Reading(l.rowNo)
	}
	switch {
	case strings.TrimSpace(text) == "":
		l.faults.Add(where, "", "the prompt is empty")
	case !utf8.ValidString(text):
		l.faults.Add(where, "", "the prompt is not UTF-8: convert it (iconv -t UTF-8)")
	case strings.ContainsRune(text, 0):
		l.faults.Add(where, "", "the prompt contains a NUL byte; is this a text file?")
	default:
		l.add(conversation.Conversation{ID: l.newID(), Turns: []conversation.Turn{{Parts: conversation.Texts("", text), Origin: where}}})
	}
}

// glancePrompts counts the prompts of a file.
func glancePrompts(each eachPrompt) func(*FileSample, string) error {
	return func(l *FileSample, path string) error {
		return each(path, l.column, func(where, _ string) bool {
			l.add(where, rowSample{turns: 1})
			return true
		})
	}
}

// eachLine is the eachPrompt of plain text. Every line that is not blank is a prompt, without surrounding white space.
func eachLine(path, _ string, f func(where, text string) bool) error {
	return rows.Read(path, func(line rows.Line) bool { return f(line.Where(), string(line.Text)) })
}

// rowEndings are extensions of structured data files. A line in them that is not JSON is an error, not a prompt.
var rowEndings = []string{".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".xml", ".html"}

// ending returns the extension of a file name in lower case, ignoring ".gz".
func ending(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
}

// promptFormat returns the format of a file whose first line is not a JSON object: a table with a header, or plain text. It is the last step of the
// detection.
func promptFormat(path string, first rows.Line, column string) (string, error) {
	end := ending(path)
	if slices.Contains(rowEndings, end) {
		return "", unknown(first.Where(), "the first line is not a JSON object")
	}
	if column != "" || end == ".csv" || end == ".tsv" {
		return tableType, nil
	}
	if _, at, _ := header(path, first.Text, ""); at >= 0 && end != ".txt" {
		return tableType, nil
	}
	return linesType, checkPlain(path)
}

// checkPlain checks that a file is plain text. It returns an error with the line number for a line that is JSON or not UTF-8.
func checkPlain(path string) error {
	var found error
	err := rows.Read(path, func(line rows.Line) bool {
		switch text := line.Text; {
		case (text[0] == '{' || text[0] == '[' || line.Number == 1) && json.Valid(text):
			found = unknown(line.Where(), "the line is JSON, but the file does not begin with a JSON object")
		case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
			found = unknown(line.Where(), "the line is not UTF-8 text")
		}
		return found == nil
	})
	return errors.Join(err, found)
}
