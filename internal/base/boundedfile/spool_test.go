package boundedfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// digits is content of which every place tells where it is.
func digits(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i>>16) ^ byte(i>>8)*3 ^ byte(i)*7
	}
	return b
}

// TestSpool: data of a source can be read again from any position, from memory and from the temporary file, and no folder lists that file.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	want := digits(HeadInMemory + 3*spoolChunk + 5)
	s := NewSpool("x", bytes.NewReader(want), 1<<30)
	if s.stored.file != nil || !s.Reach(10) || s.stored.Size() > spoolChunk {
		t.Errorf("%d bytes were read for 10", s.stored.Size())
	}
	for _, at := range []int{HeadInMemory - 3, 0, HeadInMemory, len(want) - 1, 77} {
		got := make([]byte, min(100, len(want)-at))
		if _, err := io.ReadFull(s.From(int64(at)), got); err != nil || !bytes.Equal(got, want[at:at+len(got)]) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if got, err := io.ReadAll(s.From(0)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if s.Reach(int64(len(want)) + 1) {
		t.Error("more than there is")
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) > 0 || s.stored.file == nil {
		t.Errorf("%v %v", list, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.From(0).Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// TestSpoolFails: a source that breaks or never ends, and content that cannot be stored, are errors, and what was read before is returned.
func TestSpoolFails(t *testing.T) {
	broken := errors.New("broken")
	s := NewSpool("x", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 100)
	if got, err := io.ReadAll(s.From(1)); string(got) != "bc" || !errors.Is(err, broken) {
		t.Errorf("%q %v", got, err)
	}
	s = NewSpool("x", bytes.NewReader(digits(200)), 100)
	if _, err := io.ReadAll(s.From(0)); err == nil || !strings.Contains(err.Error(), "gives more than 100 bytes") {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	s = NewSpool("x", bytes.NewReader(digits(HeadInMemory+1)), 1<<30)
	got, err := io.ReadAll(s.From(0))
	if len(got) < HeadInMemory-spoolChunk || err == nil || !strings.Contains(err.Error(), "kept in a temporary file, and writing it failed after") || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestSpoolDoesNotWait: what is there is read while somebody waits for the source.
func TestSpoolDoesNotWait(t *testing.T) {
	from, to := io.Pipe()
	s := NewSpool("x", from, 100)
	wrote := make(chan error, 1)
	go func() { _, err := to.Write([]byte("abc")); wrote <- err }()
	if !s.Reach(3) {
		t.Fatal("nothing was read")
	}
	waits := make(chan bool)
	go func() { waits <- s.Reach(4) }()
	if got, err := io.ReadAll(io.LimitReader(s.From(1), 2)); string(got) != "bc" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if err := errors.Join(<-wrote, to.Close()); err != nil || <-waits {
		t.Errorf("%v", err)
	}
}
