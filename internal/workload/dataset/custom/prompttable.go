package custom

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/table"
)

// columnNames are the usual names of the prompt column, in the order in which they are tried.
var columnNames = append([]string{"text"}, promptKeys...)

// promptColumn returns the index of the prompt column, -1 = none. A name given by the user must match exactly; the usual names match in any case.
func promptColumn(cells []string, column string) int {
	if column != "" {
		return slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) == column })
	}
	for _, name := range columnNames {
		if at := slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) }); at >= 0 {
			return at
		}
	}
	return -1
}

// header returns the separator of a table and the index of its prompt column (-1 = none), from its first line. cells are the cells of that line.
func header(path string, line []byte, column string) (separator rune, at int, cells []string) {
	separators := []rune{',', '\t', ';'}
	if ending(path) == ".tsv" {
		separators = []rune{'\t'}
	}
	for _, separator = range separators {
		in := csv.NewReader(strings.NewReader(string(line)))
		in.Comma = separator
		cells, _ = in.Read() // a malformed line has no column
		if at = promptColumn(cells, column); at >= 0 {
			return separator, at, cells
		}
	}
	in := csv.NewReader(strings.NewReader(string(line)))
	in.Comma = separators[0]
	cells, _ = in.Read()
	return separators[0], -1, cells
}

// noColumn returns the error for a table without a prompt column.
func noColumn(where string, cells []string, column string) error {
	if column != "" {
		return fmt.Errorf("%s: no column %q%s; the columns are %s", where, column, guess(column, cells), printable(cells))
	}
	return &columnError{what: fmt.Sprintf("%s: no column is named %s; the columns are %s", where, strings.Join(columnNames, ", "), printable(cells))}
}

// eachCell is the eachPrompt of a table. Every cell of one column is a prompt. The table is CSV or TSV with a header, Parquet or Arrow.
func eachCell(path, column string, f func(where, text string) bool) error {
	if _, err := tableName(path); err == nil {
		return eachBinaryCell(path, column, f)
	}
	var first rows.Line
	if err := rows.Read(path, func(l rows.Line) bool { first = l; return false }); err != nil {
		return err
	}
	separator, at, cells := header(path, first.Text, column)
	if at < 0 {
		return noColumn(first.Where(), cells, column)
	}
	if twice := slices.IndexFunc(cells[at+1:], func(c string) bool { return strings.TrimSpace(c) == strings.TrimSpace(cells[at]) }); twice >= 0 {
		return fmt.Errorf("%s: column %q exists twice", first.Where(), cells[at])
	}
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	return eachRecord(path, file, separator, func(where string, record []string, number int) (bool, error) {
		switch {
		case number == 0: // the header
			return true, nil
		case len(record) != len(cells):
			return false, fmt.Errorf("%s: the row has %d columns, the header has %d; put texts that contain %q in quotes", where, len(record), len(cells), separator)
		}
		return f(where, record[at]), nil
	})
}

// eachRecord calls f for every record of a CSV table with its position and its number from 0, until f returns false.
func eachRecord(path string, from io.Reader, separator rune, f func(where string, record []string, number int) (bool, error)) error {
	bound := &limitedReader{source: from, remaining: longestRecord}
	in := bufio.NewReader(bound)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3) // the bytes are in the buffer, so this cannot fail
	}
	t := csv.NewReader(in)
	t.Comma, t.FieldsPerRecord, t.ReuseRecord = separator, -1, true
	line, number := 0, 0
	for {
		bound.remaining = longestRecord
		record, err := t.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return brokenTable(path, err, line+1)
		}
		first, _ := t.FieldPos(0)
		line, _ = t.FieldPos(len(record) - 1)
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" {
			continue // a blank line
		}
		if more, err := f(fmt.Sprintf("%s:%d", path, first), record, number); err != nil || !more {
			return err
		}
		number++
	}
}

// eachBinaryCell is the eachCell of a Parquet or Arrow file.
func eachBinaryCell(path, column string, f func(where, text string) bool) error {
	name, all, err := binaryColumns(path)
	if err != nil {
		return err
	}
	at := promptColumn(all, column)
	if at < 0 {
		return noColumn(path, all, column)
	}
	in, err := table.OpenAs(path, name, all[at])
	if err != nil {
		return err
	}
	defer in.Close()
	var wrong error
	err = eachRow(in, func(n int, row table.Row) bool {
		text, ok := row[all[at]].(string)
		if !ok {
			wrong = fmt.Errorf("%s: column %q must hold texts, got %v", rowOf(path, n), all[at], row[all[at]])
			return false
		}
		return f(rowOf(path, n), text)
	})
	return errors.Join(err, wrong)
}

// binaryColumns lists the columns of a Parquet or Arrow file. name tells package table the format.
func binaryColumns(path string) (name string, columns []string, err error) {
	if name, err = tableName(path); err != nil {
		return "", nil, err
	}
	in, err := table.OpenAs(path, name, basetenTime)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	return name, in.Columns(), nil
}

// holdsPrompts reports whether a Parquet or Arrow file has a prompt column and none of the number columns of a Baseten trace.
func holdsPrompts(path string) bool {
	_, all, err := binaryColumns(path)
	return err == nil && promptColumn(all, "") >= 0 &&
		!slices.ContainsFunc([]string{basetenTime, "input_tokens", "output_tokens"}, func(c string) bool { return slices.Contains(all, c) })
}
