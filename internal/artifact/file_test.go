package artifact

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
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
