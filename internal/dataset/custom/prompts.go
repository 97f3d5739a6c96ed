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

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// The formats of files that hold prompts and nothing else.
const (
	linesType = "text_lines"
	tableType = "text_table"
)

// maxPrompts and maxPromptBytes bound the prompts of such a file in memory. Conversion to single_turn has no bound.
const (
	maxPrompts     = 1_000_000
	maxPromptBytes = 256 << 20
)

// eachPrompt calls f for every prompt of a file with its place, until f returns false.
type eachPrompt func(path, column string, f func(where, text string) bool) error

// readPrompts reads a file whose rows are one prompt each.
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
		return worded(err, l.Spell)
	}
}

// prompt adds a conversation of one prompt.
func (l *loader) prompt(where, text string) {
	l.rowNo++
	if l.Reading != nil && l.rowNo%tellRows == 0 {
		l.Reading(l.rowNo)
	}
	switch {
	case strings.TrimSpace(text) == "":
		l.faults.Add(where, "", "the prompt is empty")
	case !utf8.ValidString(text):
		l.faults.Add(where, "", "the prompt is not UTF-8: convert it (iconv -t UTF-8)")
	case strings.ContainsRune(text, 0):
		l.faults.Add(where, "", "the prompt holds a NUL byte: is the file text?")
	default:
		l.add(conversation.Conversation{ID: l.newID(), Turns: []conversation.Turn{{Parts: conversation.Texts("", text), Origin: where}}})
	}
}

// glancePrompts counts the prompts of a file.
func glancePrompts(each eachPrompt) func(*Look, string) error {
	return func(l *Look, path string) error {
		return each(path, l.column, func(where, _ string) bool {
			l.add(where, glimpse{turns: 1})
			return true
		})
	}
}

// eachLine is eachPrompt of plain text: a prompt is a line that is not blank, without the white space around it.
func eachLine(path, _ string, f func(where, text string) bool) error {
	return rows.Read(path, func(line rows.Line) bool { return f(line.Where(), string(line.Text)) })
}

// rowEndings are endings of files that hold structured data. A line in them that is not JSON is a fault, not a prompt.
var rowEndings = []string{".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".xml", ".html"}

// ending is the ending of a file's name in lower case, without that of gzip.
func ending(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
}

// promptFormat finds the format of a file whose first line is not a JSON object: a table with a header, or plain text. No other format is
// asked after it.
func promptFormat(path string, first rows.Line, column string) (string, error) {
	end := ending(path)
	if slices.Contains(rowEndings, end) {
		return "", unknown(first.Where(), "the first line is no JSON object")
	}
	if column != "" || end == ".csv" || end == ".tsv" {
		return tableType, nil
	}
	if _, at, _ := header(path, first.Text, ""); at >= 0 && end != ".txt" {
		return tableType, nil
	}
	return linesType, checkPlain(path)
}

// checkPlain returns nil for a file of plain text. A line of JSON, or one that is not UTF-8 text, is an error that names the line.
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
