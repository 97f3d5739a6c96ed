package rows

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"aiperf/internal/infile"
)

// Open opens a data file at its start. One of gzip is read unpacked; its bytes, like those of any file, go to raw as they lie on the disk. What gives its content only once (a pipe: <(…), /dev/stdin) may be opened again all the same.
func Open(path string, raw io.Writer) (io.ReadCloser, error) {
	file, err := open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	source := io.TeeReader(file, raw)
	if !Packed(path) {
		return stream{source, file}, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(source))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: damaged gzip: %w", path, err)
	}
	return stream{&bounded{z, path, maxInflated}, file}, nil
}

// open opens a file, or what was read of a stream.
func open(path string) (io.ReadCloser, error) {
	spool, err := infile.Stream(path)
	if err != nil {
		return nil, err
	}
	if spool != nil {
		return io.NopCloser(spool.From(0)), nil
	}
	return os.Open(path)
}

// maxInflated is the most that a compressed file may give, in bytes: what is small on the disk may be endless when it is read.
const maxInflated = 8 << 30

// bounded reads no more than so many bytes.
type bounded struct {
	from io.Reader
	path string
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%s: inflates to more than %d GiB, the most that is read of a compressed file", b.path, maxInflated>>30)
	}
	return n, err
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
