package custom

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// row is the first row of a file, parsed as far as format detection needs it.
type row map[string]json.RawMessage

func (r row) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return r[key] == nil })
}

func (r row) any(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return r[key] != nil })
}

func (r row) is(key, kind string) bool { return r[key] != nil && rows.Kind(r[key]) == kind }

// typed returns the format that the row itself names.
func (r row) typed() (string, bool) {
	var name string
	if !r.is("type", "string") || json.Unmarshal(r["type"], &name) != nil {
		return "", false
	}
	_, known := Find(name)
	return name, known
}

// turnsWithMessages reports whether some turn has a message array.
func (r row) turnsWithMessages() bool {
	var turns []json.RawMessage
	if json.Unmarshal(r["turns"], &turns) != nil {
		return false
	}
	return slices.ContainsFunc(turns, func(raw json.RawMessage) bool {
		var turn row
		return json.Unmarshal(raw, &turn) == nil && turn.any("messages")
	})
}

// ranked lists the formats that are detected by the first row, by rank. The first one that fits wins.
func ranked() []Format {
	list := slices.DeleteFunc(slices.Clone(Formats), func(f Format) bool { return f.fits == nil })
	sorting.Stable(list, func(a, b Format) int { return cmp.Compare(a.rank, b.rank) })
	return list
}

// detect returns the format of a file by its first row, or of a folder by its files. column is the key of the prompts, "" = unknown.
func detect(path, column string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return detectFolder(path)
	}
	if isInputs(path) {
		return inputsType, nil
	}
	if isWeka(path) {
		return "weka_trace", nil
	}
	if name, err := byHead(path); name != "" || err != nil {
		if name == basetenType && (column != "" || holdsPrompts(path)) {
			name = tableType
		}
		return name, err
	}
	var first rows.Line
	if err := rows.Read(path, func(l rows.Line) bool { first = l; return false }); err != nil {
		return "", err
	}
	var faults dataset.Faults
	fields := rows.Parse(first.Where(), first.Text, &faults)
	switch {
	case fields != nil:
	case first.Text[0] == '{' || first.Text[0] == '[':
		return "", faults.Err()
	default:
		return promptFormat(path, first, column)
	}
	r := row{}
	for key := range fields.Names() {
		r[key] = fields.Raw(key)
	}
	if _, typed := r.typed(); !typed && column != "" && r.is(column, "string") {
		return singleType, nil
	}
	if name, ok := r.format(); ok {
		return name, nil
	}
	keys := slices.Sorted(maps.Keys(r))
	return "", unknown(first.Where(), "keys: "+strings.Join(keys, ", "))
}

// headBytes is the number of bytes that are searched for a header.
const headBytes = 4096

// byHead returns the format of a file without JSON rows by its first line, cut to headBytes. "" = none fits.
func byHead(path string) (string, error) {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return "", err
	}
	defer file.Close()
	start := make([]byte, headBytes)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(start[:n]), "\ufeff"))
	line, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(line, "{") { // a JSON row is not a table, whatever words its texts contain
		return "", nil
	}
	for _, f := range Formats {
		if f.heads != nil && f.heads(line) {
			return f.Name, nil
		}
	}
	return "", nil
}

// format returns the format of a row: the one that it names, else the first that fits.
func (r row) format() (string, bool) {
	if name, ok := r.typed(); ok {
		return name, true
	}
	maps.DeleteFunc(r, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, f := range ranked() {
		if f.fits(r) {
			return f.Name, true
		}
	}
	return "", false
}

func unknown(where, seen string) error {
	return &FormatError{What: where + ": cannot detect the format of the file (" + seen + ")", Formats: names()}
}
