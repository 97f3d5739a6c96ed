//go:build unix

package boundedfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestPipe: a pipe is read once and may be opened again.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("one\ntwo\n"), 0o600) }()
	for range 3 {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "one\ntwo\n" {
			t.Errorf("%q %v", text, err)
		}
		f.Close()
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// TestPipeWithoutWriter: ReadAll does not wait for ever for a process that writes; a slow one is waited for.
func TestPipeWithoutWriter(t *testing.T) {
	testhome.Slow(t)
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := ReadAll(path, 100); failed <- err }()
	select {
	case err := <-failed:
		if err == nil || !strings.Contains(err.Error(), "is a pipe that no process wrote to within 2s") {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("ReadAll still waits after 10 s")
	}
	written := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			time.Sleep(100 * time.Millisecond)
			_, err = w.WriteString("text")
			err = errors.Join(err, w.Close())
		}
		written <- err
	}()
	for range 2 {
		if text, err := ReadAll(path, 100); err != nil || string(text) != "text" {
			t.Errorf("%q %v", text, err)
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestEndless: a device that never ends is read to the limit of files that are not regular.
func TestEndless(t *testing.T) {
	testhome.Slow(t)
	for _, read := range []func() error{
		func() error { _, err := Open("/dev/zero"); return err },
		func() error { _, err := ReadAll("/dev/zero", 100); return err },
	} {
		if err := read(); err == nil || !strings.Contains(err.Error(), "/dev/zero: gives more than 256 MiB") {
			t.Errorf("%v", err)
		}
	}
}

func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadAll(path, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := ReadAll(path, 4); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("%v", err)
	}
	if _, err := Open(path + "x"); !errors.Is(err, fs.ErrNotExist) || err.Error() != path+"x does not exist" {
		t.Errorf("%v", err)
	}
}
