package dashboard

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// TestPacedWriter: an output that is not read blocks no write; what was written comes in its order once somebody reads.
func TestPacedWriter(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	p := newPacedWriter(write)
	p.ready = func() {}
	if _, err := p.Write([]byte("first")); err != nil || p.slow() || !p.drained(0) {
		t.Errorf("a small write: %v, slow %t", err, p.slow())
	}
	want := []byte("first")
	for c := range byte(4) {
		part := bytes.Repeat([]byte{'a' + c}, 100_000) // more than a pipe holds
		want = append(want, part...)
		if n, err := p.Write(part); n != len(part) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if !p.slow() || p.drained(time.Millisecond) {
		t.Error("an output that nobody reads counts as fast")
	}
	if !p.behind() {
		t.Error("the terminal counts as up to date")
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(read, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %d bytes, not in their order", err, len(got))
	}
	if !p.drained(time.Minute) || p.behind() {
		t.Error("the terminal counts as behind after it has read everything")
	}
	write.Close()
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("no error of a closed terminal")
	}
}
