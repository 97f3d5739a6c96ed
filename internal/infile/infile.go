// Package infile reads the files that a user names. What is no regular file, such as the pipe of a shell's <(command), can be read only
// once: it is read to its end on first sight and kept. Nothing is read without a bound: a device gives bytes for ever.
package infile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// MaxStream is the most that is read of what is no regular file, in bytes.
const MaxStream = 256 << 20

// kept are the contents of what can be read only once, by name. The process reads few of them, and one name stays one pipe.
var kept = struct {
	sync.Mutex
	text map[string][]byte
}{text: map[string][]byte{}}

// Open opens a file for reading. It may be opened again, also if it is a pipe.
func Open(path string) (io.ReadCloser, error) {
	kept.Lock()
	defer kept.Unlock()
	if text, ok := kept.text[path]; ok {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return file, err
	}
	text, err := all(path, file, MaxStream)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	kept.text[path] = text
	return io.NopCloser(bytes.NewReader(text)), nil
}

// ReadAll returns what a file holds, most bytes at most: more is an error.
func ReadAll(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	text, err := all(path, file, most)
	return text, errors.Join(err, file.Close())
}

func all(path string, from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s: gives more than %s, the most that is read", path, size(most))
	}
	return text, err
}

// size is a number of bytes in words.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
