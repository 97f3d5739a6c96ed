package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
)

// csvReader reads lines of fields below a line of names. An empty field is nil, any other one text.
type csvReader struct {
	in      *csv.Reader
	columns []string
}

func openCSV(in Input, _ int64, _ []string) (Reader, error) {
	buffered := bufio.NewReader(in)
	if head, err := buffered.Peek(3); err == nil && bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
	}
	c := &csvReader{in: csv.NewReader(buffered)}
	c.in.ReuseRecord = true
	names, err := c.in.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("no line of column names")
	}
	c.columns = slices.Clone(names)
	return c, err
}

func (c *csvReader) Columns() []string { return c.columns }

func (c *csvReader) Next() (Row, error) {
	fields, err := c.in.Read()
	if err != nil {
		return nil, err
	}
	row := make(Row, len(fields))
	for i, name := range c.columns {
		row[name] = nil
		if fields[i] != "" {
			row[name] = fields[i]
		}
	}
	return row, nil
}

func (c *csvReader) Close() error { return nil }
