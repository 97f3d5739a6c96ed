package rows

import (
	"errors"
	"io"
	"math"
	"os"

	"aiperf/internal/base/boundedfile"
)

// RereadableFile is a file that is read in order, and again at any position that was already read. The unpacked content of a compressed file, and the
// content of a stream (a pipe), is stored meanwhile (boundedfile.SpoolFile).
type RereadableFile struct {
	Path  string
	plain *os.File               // nil = compressed, or a stream
	spool *boundedfile.SpoolFile // for a compressed file or a stream
	own   io.Closer              // for a compressed file
}

// Packed reports whether a file is gzip, by its first bytes.
func Packed(path string) bool {
	file, err := open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [2]byte
	_, err = io.ReadFull(file, head[:])
	return err == nil && head == [2]byte{0x1f, 0x8b}
}

// OpenRereadable opens a file.
func OpenRereadable(path string) (*RereadableFile, error) {
	if Packed(path) {
		source, err := Open(path, io.Discard)
		if err != nil {
			return nil, err
		}
		return &RereadableFile{Path: path, spool: boundedfile.NewSpool(path, source, maxInflated), own: source}, nil
	}
	spool, err := boundedfile.Stream(path)
	if spool != nil || err != nil {
		return &RereadableFile{Path: path, spool: spool}, openError(path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	return &RereadableFile{Path: path, plain: file}, nil
}

// From returns a reader from an offset of the content.
func (h *RereadableFile) From(offset int64) io.Reader {
	if h.spool != nil {
		return h.spool.From(offset)
	}
	return io.NewSectionReader(h.plain, offset, math.MaxInt64-offset)
}

// Most returns an upper bound of the content's size in bytes.
func (h *RereadableFile) Most() (int64, error) {
	if h.spool != nil {
		return boundedfile.MaxSpooled, nil
	}
	info, err := h.plain.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Read calls f for every line that is not blank, until f returns false, like the function Read.
func (h *RereadableFile) Read(f func(Line) bool) error { return read(h.Path, h.From(0), f) }

// Close closes the file. A stream can be opened again.
func (h *RereadableFile) Close() error {
	switch {
	case h.own != nil:
		return errors.Join(h.own.Close(), h.spool.Close())
	case h.plain != nil:
		return h.plain.Close()
	}
	return nil
}

// Size returns the size of a file's content in bytes, at most limit. Of a compressed file or a stream, it reads little more than limit.
func Size(path string, limit int64) (int64, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() && !Packed(path) {
		if err != nil {
			return 0, err
		}
		return min(limit, info.Size()), nil
	}
	file, err := Open(path, io.Discard)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(file, limit))
	return n, errors.Join(err, file.Close())
}
