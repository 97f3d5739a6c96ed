// Package boundedfile reads files named by the user, up to a size limit, because a device may deliver bytes for ever. A file that is not a regular
// one, such as the pipe of a shell's <(command), can be read only once. It is read to its end when first opened, and its content stays in memory.
package boundedfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// MaxStream is the maximum size, in bytes, of the content of a file that is not a regular one.
const MaxStream = 256 << 20

// pipeContents holds the content of files that can be read only once, by name. A process reads few of them, and a name always means the same pipe.
var pipeContents = struct {
	sync.Mutex
	byName map[string][]byte
}{byName: map[string][]byte{}}

// Open opens a file for reading. A file can be opened repeatedly, even if it is a pipe.
func Open(path string) (io.ReadCloser, error) {
	pipeContents.Lock()
	defer pipeContents.Unlock()
	if text, ok := pipeContents.byName[path]; ok {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, Named(path, err)
	}
	info, err := file.Stat()
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return file, err
	}
	text, err := readWithin(path, file, MaxStream)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	pipeContents.byName[path] = text
	return io.NopCloser(bytes.NewReader(text)), nil
}

// ReadAll returns the content of a file, or an error if it is longer than most bytes. It also fails if no process opens a pipe for writing within
// writerPatience.
func ReadAll(path string, most int64) ([]byte, error) {
	if err := awaitWriter(path); err != nil {
		return nil, err
	}
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	text, err := readWithin(path, file, most)
	return text, errors.Join(err, file.Close())
}

// writerPatience is how long ReadAll waits for a process that writes to a pipe.
const writerPatience = 2 * time.Second

// awaitWriter waits until a process writes to a named pipe. It stores the text that it reads, and Open returns that text later.
func awaitWriter(path string) error {
	pipeContents.Lock()
	_, known := pipeContents.byName[path]
	pipeContents.Unlock()
	info, err := os.Stat(path)
	if known || err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return nil // Open names the error
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for end := time.Now().Add(writerPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text, err := readWithin(path, file, MaxStream) // returns at once as long as no process writes
		if err != nil {
			return err
		}
		if len(text) > 0 {
			pipeContents.Lock()
			pipeContents.byName[path] = text
			pipeContents.Unlock()
			return nil
		}
	}
	return fmt.Errorf("%s is a pipe that no process wrote to within %v: start its writer first, or name a file", path, writerPatience)
}

func readWithin(path string, from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s: gives more than %s, the most that is read", path, size(most))
	}
	return text, err
}

// size formats a number of bytes for a message.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
