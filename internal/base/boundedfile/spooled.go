package boundedfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// HeadInMemory is the number of stored bytes that stay in memory. The rest goes to a temporary file.
var HeadInMemory = 8 << 20

// SpooledBytes stores bytes for random access: the beginning in memory, the rest in an unlinked temporary file that disappears with the process.
type SpooledBytes struct {
	Name string // name of the source, for errors

	head []byte
	file *os.File // nil = everything is in head
	size int64
}

// Size returns the number of bytes stored so far.
func (k *SpooledBytes) Size() int64 { return k.size }

// Write appends bytes.
func (k *SpooledBytes) Write(b []byte) (int, error) {
	if k.file == nil && len(k.head)+len(b) <= HeadInMemory {
		k.head = append(k.head, b...)
		k.size = int64(len(k.head))
		return len(b), nil
	}
	if k.file == nil {
		f, err := os.CreateTemp("", ".aiperf-content-*")
		if err != nil {
			return 0, k.wrapError(err)
		}
		if err := os.Remove(f.Name()); err != nil { // the file exists until it is closed
			return 0, k.wrapError(errors.Join(err, f.Close()))
		}
		k.file = f
	}
	n, err := k.file.Write(b)
	k.size += int64(n)
	if err != nil {
		return n, k.wrapError(err)
	}
	return n, nil
}

// wrapError wraps an error of storing content, with advice on what to do.
func (k *SpooledBytes) wrapError(err error) error {
	return fmt.Errorf("the content of %s is kept in a temporary file, and writing it failed after %d MiB (TMPDIR sets another folder): %w", k.Name, k.size>>20, err)
}

// ReadAt implements io.ReaderAt.
func (k *SpooledBytes) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(k.head)) {
		n = copy(p, k.head[at:])
	}
	if n == len(p) {
		return n, nil
	}
	if at += int64(n); at >= k.size {
		return n, io.EOF
	}
	more, err := k.file.ReadAt(p[n:], at-int64(len(k.head)))
	return n + more, err
}

// Close deletes the stored bytes.
func (k *SpooledBytes) Close() error {
	k.size, k.head = 0, nil
	if k.file == nil {
		return nil
	}
	err := k.file.Close()
	k.file = nil
	return err
}
