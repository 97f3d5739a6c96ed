package infile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// KeptHead is how much of what is kept stays in memory, in bytes; what follows is written to a temporary file.
var KeptHead = 8 << 20

// Kept are bytes that are read again at any place: the beginning in memory and the rest in a temporary file that no folder lists, so that it is gone
// with the process.
type Kept struct {
	Name string // of whose content it is, for errors

	head []byte
	rest *os.File // nil = all is in head
	size int64
}

// Size is the number of bytes so far.
func (k *Kept) Size() int64 { return k.size }

// Write appends bytes.
func (k *Kept) Write(b []byte) (int, error) {
	if k.rest == nil && len(k.head)+len(b) <= KeptHead {
		k.head = append(k.head, b...)
		k.size = int64(len(k.head))
		return len(b), nil
	}
	if k.rest == nil {
		f, err := os.CreateTemp("", ".aiperf-content-*")
		if err != nil {
			return 0, k.failed(err)
		}
		if err := os.Remove(f.Name()); err != nil { // it lives as long as it is open
			return 0, k.failed(errors.Join(err, f.Close()))
		}
		k.rest = f
	}
	n, err := k.rest.Write(b)
	k.size += int64(n)
	if err != nil {
		return n, k.failed(err)
	}
	return n, nil
}

// failed says that content cannot be kept, and what can be done about it.
func (k *Kept) failed(err error) error {
	return fmt.Errorf("what %s holds is kept in a temporary file, which failed after %d MiB (TMPDIR names another folder): %w", k.Name, k.size>>20, err)
}

// ReadAt implements io.ReaderAt.
func (k *Kept) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(k.head)) {
		n = copy(p, k.head[at:])
	}
	if n == len(p) {
		return n, nil
	}
	if at += int64(n); at >= k.size {
		return n, io.EOF
	}
	more, err := k.rest.ReadAt(p[n:], at-int64(len(k.head)))
	return n + more, err
}

// Close removes what is kept.
func (k *Kept) Close() error {
	k.size, k.head = 0, nil
	if k.rest == nil {
		return nil
	}
	err := k.rest.Close()
	k.rest = nil
	return err
}
