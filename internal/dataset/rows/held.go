package rows

import (
	"errors"
	"io"
	"math"
	"os"

	"aiperf/internal/infile"
)

// Held is a file whose content is read in its order and, where it was read, again at any place. What a packed file holds is kept unpacked
// meanwhile, what a stream (a pipe) gave anyhow (infile.Spool).
type Held struct {
	Path  string
	plain *os.File      // nil = it is packed, or a stream
	spool *infile.Spool // of one
	own   io.Closer     // of a packed one
}

// Packed tells whether a file is read through gzip: it is by its first bytes, whatever its name.
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

// Hold opens a file.
func Hold(path string) (*Held, error) {
	if Packed(path) {
		source, err := Open(path, io.Discard)
		if err != nil {
			return nil, err
		}
		return &Held{Path: path, spool: infile.NewSpool(path, source, maxInflated), own: source}, nil
	}
	spool, err := infile.Stream(path)
	if spool != nil || err != nil {
		return &Held{Path: path, spool: spool}, openError(path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	return &Held{Path: path, plain: file}, nil
}

// From reads on from a place of the content.
func (h *Held) From(offset int64) io.Reader {
	if h.spool != nil {
		return h.spool.From(offset)
	}
	return io.NewSectionReader(h.plain, offset, math.MaxInt64-offset)
}

// Most is the number of bytes that the content has at the most.
func (h *Held) Most() (int64, error) {
	if h.spool != nil {
		return infile.MaxSpooled, nil
	}
	info, err := h.plain.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Read calls f for every line that is not blank, until f returns false, as Read of a path does.
func (h *Held) Read(f func(Line) bool) error { return read(h.Path, h.From(0), f) }

// Close closes the file. A stream may be opened again.
func (h *Held) Close() error {
	switch {
	case h.own != nil:
		return errors.Join(h.own.Close(), h.spool.Close())
	case h.plain != nil:
		return h.plain.Close()
	}
	return nil
}

// Size is the number of bytes of a file's content, or limit where it has more: of a packed file, and of a stream, little more is read.
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
