package rows

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"aiperf/internal/base/boundedfile"
)

// Open opens a data file at its start and unpacks gzip. It writes the file's bytes to raw as they are on the disk. A source that can be read only once
// (a pipe: <(…), /dev/stdin) may nevertheless be opened again.
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
		return nil, fmt.Errorf("%s: damaged gzip file: %w", path, err)
	}
	return stream{&limitedReader{z, path, maxInflated}, file}, nil
}

// open opens a file, or the stored content of a stream.
func open(path string) (io.ReadCloser, error) {
	spool, err := boundedfile.Stream(path)
	if err != nil {
		return nil, err
	}
	if spool != nil {
		return io.NopCloser(spool.From(0)), nil
	}
	return os.Open(path)
}

// maxInflated is the maximum size of an unpacked file, in bytes. A small compressed file may unpack to endless data.
const maxInflated = 8 << 30

// limitedReader returns an error after a maximum number of bytes.
type limitedReader struct {
	from      io.Reader
	path      string
	remaining int64
}

// Read implements io.Reader.
func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return 0, fmt.Errorf("%s: the decompressed file is larger than %d GiB, the maximum; decompress it first", b.path, maxInflated>>30)
	}
	return n, err
}

type stream struct {
	io.Reader
	io.Closer
}

func openError(path string, err error) error {
	return boundedfile.Named(path, err)
}
