// Package table reads tabular files (Parquet, Arrow, JSON and CSV) one row at a time.
package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Row is one row: column -> value. A value is nil, bool, int64, float64, string (also for bytes), []any or map[string]any.
type Row = map[string]any

// Reader reads the rows of a file in order.
type Reader interface {
	// Columns returns the names of all columns in the file. For JSON, it returns those of the rows read so far.
	Columns() []string
	// Next returns the next row, io.EOF after the last one.
	Next() (Row, error)
	Close() error
}

// Input is a local file, or a remote one that is read in pieces.
type Input interface {
	io.ReaderAt
	io.Reader
	io.Closer
}

// format is a table format.
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

// find returns the format for the extension of a file name.
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

// Known reports whether a file with this name is a table.
func Known(name string) bool { return find(name) != nil }

// Endings lists the file extensions that Open can read.
func Endings() (all []string) {
	for _, f := range formats {
		all = append(all, f.endings...)
	}
	return all
}

// Open opens a file. Its name determines the format. Only the named columns are read, as far as the format allows; none named = all.
func Open(path string, columns ...string) (Reader, error) { return OpenAs(path, path, columns...) }

// OpenAs is like Open, but another name determines the format.
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
		_ = f.Close() // no row was read
		return nil, err
	}
	return Read(path, name, f, info.Size(), columns...)
}

// Read reads a table of size bytes from in and closes it. name determines the format, path appears in errors.
func Read(path, name string, in Input, size int64, columns ...string) (Reader, error) {
	f := find(name)
	if f == nil {
		_ = in.Close() // no row was read
		return nil, fmt.Errorf("%s: unknown file type; the name must end in one of %s", filepath.Base(name), strings.Join(Endings(), ", "))
	}
	r, err := guarded(func() (Reader, error) { return f.open(in, size, columns) })
	if err != nil {
		_ = in.Close() // no row was read
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &namedFile{Reader: r, name: path, in: in}, nil
}

// namedFile adds the file name to errors and closes the file.
type namedFile struct {
	Reader
	name string
	in   Input
	rows int
}

func (n *namedFile) Next() (Row, error) {
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

func (n *namedFile) Close() error {
	err := n.Reader.Close()
	if cerr := n.in.Close(); err == nil {
		err = cerr
	}
	return err
}

// errPanic reports that a library panicked on a damaged file.
var errPanic = errors.New("damaged: its parts contradict each other")

// guarded converts a library panic on a damaged file to errPanic.
func guarded[T any](do func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	v, err = do()
	if err != nil && strings.Contains(err.Error(), "runtime error") { // the library recovered from its own panic
		err = errPanic
	}
	return v, err
}
