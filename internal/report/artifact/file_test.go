package artifact

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestStreamEndsWithWholeLines: whatever part of it was flushed, the file never ends inside a line, also with lines above the buffer.
func TestStreamEndsWithWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lines.jsonl")
	s, err := create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want []byte
	for i := range 270 {
		line := append(bytes.Repeat([]byte{byte('a' + i%26)}, i*i), '\n') // 1 byte to 72 kB
		want = append(want, line...)
		if err := s.Write(line); err != nil {
			t.Fatal(err)
		}
		if i%16 != 0 && i < 260 {
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 && got[len(got)-1] != '\n' || !bytes.HasPrefix(want, got) {
			t.Fatalf("after line %d the file holds %d bytes of %d and ends inside a line", i, len(got), len(want))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
		t.Errorf("the file holds %d bytes, want %d", len(got), len(want))
	}
}

// TestStreamAfterFailure: the first error stays, and nothing more is written.
func TestStreamAfterFailure(t *testing.T) {
	s, err := create(filepath.Join(t.TempDir(), "lines.jsonl"), false)
	if err != nil {
		t.Fatal(err)
	}
	s.Write([]byte("one\n"))
	s.f.Close() // as a disk that takes nothing
	first := s.Flush()
	if first == nil {
		t.Fatal("flushing to a closed file gave no error")
	}
	if err := s.Write([]byte("two\n")); !errors.Is(err, first) {
		t.Errorf("a later write gives %v, want %v", err, first)
	}
}

// TestSettleWaitsForTheWriteInProgress: an ending process waits for it, so that no file ends inside a line.
func TestSettleWaitsForTheWriteInProgress(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := &stream{f: w, buf: bytes.Repeat([]byte("x"), 1<<20)}
	over := make(chan error)
	go func() { over <- s.Flush() }()
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if writing.TryLock() {
		t.Error("the process may end while a write is in progress")
		writing.Unlock()
	}
	if _, err := io.ReadFull(r, make([]byte, 1<<20-1)); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if !writing.TryLock() {
		t.Fatal("the write is over, and the process may still not end")
	}
	writing.Unlock()
	w.Close()

	var mu sync.RWMutex
	mu.RLock()
	if awaitWrites(&mu, time.Millisecond) {
		t.Error("settled during a write")
	}
	mu.RUnlock()
	for mu.TryRLock() { // until no write begins any more
		mu.RUnlock()
		runtime.Gosched()
	}
}

// TestCanWrite: a path is refused if it is a folder, or below a file; a check leaves nothing behind.
func TestCanWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "", filepath.Join(dir, "new"): "", filepath.Join(dir, "a", "b", "new"): "",
		dir: "is a folder; name a file", filepath.Join(file, "a", "b"): "because " + file + " is a file; name a file in a folder",
	} {
		switch err := CanWrite(path); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}
