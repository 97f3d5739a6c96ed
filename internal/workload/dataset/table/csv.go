package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// csvReader reads CSV with a header line (RFC 4180). An empty field is nil, any other field a text. Unlike encoding/csv, it keeps the line ends inside
// a field unchanged.
type csvReader struct {
	in      *bufio.Reader
	line    int // current line, from 1
	columns []string
}

func openCSV(in Input, _ int64, _ []string) (Reader, error) {
	buffered := bufio.NewReader(in)
	if head, err := buffered.Peek(3); err == nil && bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
	}
	c := &csvReader{in: buffered, line: 1}
	names, err := c.fields()
	if errors.Is(err, io.EOF) {
		err = errors.New("the header with the column names is missing")
	}
	c.columns = slices.Clone(names)
	return c, err
}

func (c *csvReader) Columns() []string { return c.columns }

func (c *csvReader) Next() (Row, error) {
	from := c.line
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	if len(fields) != len(c.columns) {
		return nil, fmt.Errorf("line %d: %d fields, but the header has %d", from, len(fields), len(c.columns))
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

// fields reads the next line that is not empty. A line continues inside quotes.
func (c *csvReader) fields() ([]string, error) {
	for {
		line, err := c.in.ReadBytes('\n')
		if len(line) == 0 {
			return nil, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		c.line++
		if len(bytes.TrimRight(line, "\r\n")) > 0 {
			return c.split(line)
		}
	}
}

// split splits a line at its commas. It reads more lines while a quote is open.
func (c *csvReader) split(line []byte) ([]string, error) {
	var fields []string
	from := c.line - 1
	for {
		if len(line) == 0 || line[0] != '"' {
			field, rest, more := bytes.Cut(line, []byte(","))
			if !more {
				return append(fields, string(trimEnd(field))), nil
			}
			fields, line = append(fields, string(field)), rest
			continue
		}
		field, rest, err := c.quoted(line[1:], from)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		switch {
		case len(trimEnd(rest)) == 0:
			return fields, nil
		case rest[0] != ',':
			return nil, fmt.Errorf("line %d: text after a closing quote", c.line-1)
		}
		line = rest[1:]
	}
}

// trimEnd removes the line end.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// quoted reads a field up to its closing quote. Two quotes stand for one. rest is the rest of the line.
func (c *csvReader) quoted(line []byte, from int) (field string, rest []byte, err error) {
	var text []byte
	for {
		i := bytes.IndexByte(line, '"')
		switch {
		case i >= 0 && i+1 < len(line) && line[i+1] == '"':
			text, line = append(text, line[:i+1]...), line[i+2:]
		case i >= 0:
			return string(append(text, line[:i]...)), line[i+1:], nil
		default:
			text = append(text, line...)
			next, err := c.in.ReadBytes('\n')
			if len(next) == 0 {
				if errors.Is(err, io.EOF) {
					err = fmt.Errorf("line %d: a quote is not closed", from)
				}
				return "", nil, err
			}
			c.line++
			line = next
		}
	}
}

func (c *csvReader) Close() error { return nil }
