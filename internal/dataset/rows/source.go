package rows

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aiperf/internal/infile"
)

// Open opens a data file at its start. A name that ends in .gz is read through gzip, whose bytes, like those of any file, go to raw as they
// lie on the disk. What gives its content only once (a pipe: <(…), /dev/stdin) may be opened again all the same.
func Open(path string, raw io.Writer) (io.ReadCloser, error) {
	file, err := infile.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	source := io.TeeReader(file, raw)
	if !strings.HasSuffix(path, ".gz") {
		return stream{source, file}, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(source))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: not a gzip file: %w", path, err)
	}
	return stream{z, file}, nil
}

type stream struct {
	io.Reader
	io.Closer
}

func openError(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file", path)
	}
	return err
}
