package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// jsonReader reads objects that follow each other or are in one array.
type jsonReader struct {
	in      *json.Decoder
	array   bool
	columns map[string]bool
	close   io.Closer
}

func openJSON(in Input, _ int64, _ []string) (Reader, error) { return newJSON(in, io.NopCloser(nil)) }

func openZippedJSON(in Input, _ int64, _ []string) (Reader, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return newJSON(z, z)
}

func newJSON(in io.Reader, done io.Closer) (Reader, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	if head, err := buffered.Peek(3); err == nil && bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
	}
	j := &jsonReader{columns: map[string]bool{}, close: done}
	for {
		c, err := buffered.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(" \t\r\n", rune(c)) {
			continue
		}
		j.array = c == '['
		if err := buffered.UnreadByte(); err != nil {
			return nil, err
		}
		break
	}
	j.in = json.NewDecoder(buffered)
	j.in.UseNumber()
	if j.array {
		if _, err := j.in.Token(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *jsonReader) Columns() []string { return slices.Sorted(maps.Keys(j.columns)) }

func (j *jsonReader) Next() (Row, error) {
	if j.array && !j.in.More() {
		if _, err := j.in.Token(); err != nil {
			return nil, noEOF(err)
		}
		return nil, io.EOF
	}
	var v any
	if err := j.in.Decode(&v); err != nil {
		if j.array {
			err = noEOF(err)
		}
		return nil, err
	}
	row, ok := numbers(v).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be a JSON object, got %.40v", v)
	}
	for k := range row {
		j.columns[k] = true
	}
	return row, nil
}

// noEOF returns the error for a file that ends too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (j *jsonReader) Close() error { return j.close.Close() }

// numbers converts the numbers of a JSON value to int64 or float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return v.String() // too large for a float
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}
