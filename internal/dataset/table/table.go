// Package table reads files of rows and columns, Parquet, Arrow, JSON and CSV, one row at a time.
package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Row is one row: column -> value. A value is nil, bool, int64, float64, string (of bytes too), []any or map[string]any.
type Row = map[string]any

// Reader gives the rows of a file in their order.
type Reader interface {
	// Columns are the names of all columns of the file; of JSON those of the rows read so far.
	Columns() []string
	// Next returns the next row, io.EOF after the last one.
	Next() (Row, error)
	Close() error
}

// Input is a file: a local one, or one that lies elsewhere and is read in pieces.
type Input interface {
	io.ReaderAt
	io.Reader
	io.Closer
}

// format is a way to write tables.
type format struct {
	endings []string
	open    func(in Input, size int64, columns []string) (Reader, error)
}

var formats = []format{
	{[]string{".parquet"}, openParquet},
	{[]string{".jsonl", ".json", ".ndjson"}, openJSON},
	{[]string{".jsonl.gz", ".json.gz"}, openZippedJSON},
	{[]string{".csv"}, openCSV},
	{[]string{".arrow"}, openArrow},
}

// find is the format that the ending of a file's name tells.
func find(name string) *format {
	name = strings.ToLower(name)
	for i, f := range formats {
		for _, e := range f.endings {
			if strings.HasSuffix(name, e) {
				return &formats[i]
			}
		}
	}
	return nil
}

// Known tells whether a file of this name is a table.
func Known(name string) bool { return find(name) != nil }

// Endings lists the endings of the files that Open reads.
func Endings() (all []string) {
	for _, f := range formats {
		all = append(all, f.endings...)
	}
	return all
}

// Open reads a file whose format its name tells. Only the named columns are read, as far as the format allows; none named = all.
func Open(path string, columns ...string) (Reader, error) { return OpenAs(path, path, columns...) }

// OpenAs is Open for a file whose format another name tells than its own.
func OpenAs(path, name string, columns ...string) (Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file", path)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return Read(path, name, f, info.Size(), columns...)
}

// Read reads a table of size bytes from in, which it closes; name tells the format, path stands in errors.
func Read(path, name string, in Input, size int64, columns ...string) (Reader, error) {
	f := find(name)
	if f == nil {
		_ = in.Close() // nothing was read
		return nil, fmt.Errorf("%s: want a name that ends in one of %s", filepath.Base(name), strings.Join(Endings(), ", "))
	}
	r, err := guarded(func() (Reader, error) { return f.open(in, size, columns) })
	if err != nil {
		_ = in.Close() // nothing was read
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &named{Reader: r, name: path, in: in}, nil
}

// named puts the file's name before errors and closes the file.
type named struct {
	Reader
	name string
	in   Input
	rows int
}

func (n *named) Next() (Row, error) {
	row, err := guarded(n.Reader.Next)
	switch {
	case err == io.EOF: //nolint:errorlint // io.EOF is handed out as it is
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("%s: row %d: %w", n.name, n.rows, err)
	}
	n.rows++
	return row, nil
}

func (n *named) Close() error {
	err := n.Reader.Close()
	if cerr := n.in.Close(); err == nil {
		err = cerr
	}
	return err
}

// errPanic is a panic of a library over a damaged file.
var errPanic = errors.New("damaged: its parts do not fit together")

// guarded turns a panic of a library over a damaged file into errPanic.
func guarded[T any](do func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	v, err = do()
	if err != nil && strings.Contains(err.Error(), "runtime error") { // the library caught its own panic
		err = errPanic
	}
	return v, err
}
