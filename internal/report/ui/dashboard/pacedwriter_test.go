package dashboard

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// TestPacedWriter: an output that is not read blocks no write, until too much waits; what was written comes in its order once somebody reads.
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
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		_, _ = p.Write(make([]byte, maxUnread+1))
	}()
	if waitFor(blocked, 2*writePatience) {
		t.Error("a write returns although more than the limit waits")
	}
	if _, full := p.add([]byte("end")); !full { // a view that ends must not wait
		t.Error("there is room although more than the limit waits")
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(read, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %d bytes, not in their order", err, len(got))
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if !waitFor(blocked, time.Minute) || !p.drained(time.Minute) {
		t.Error("the rest is not written")
	}
	write.Close()
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("no error of a closed terminal")
	}
}
