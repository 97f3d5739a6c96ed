//go:build unix

package custom

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipes checks that rows from a pipe stay in its stored content, and that the first row is available before the last one was written.
func TestPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	leave(t)
	const before, after = 5000, 3 * readAhead
	seen, wrote := make(chan bool), make(chan error, 1)
	go func() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			wrote <- err
			return
		}
		defer file.Close()
		out := bufio.NewWriter(file)
		row := func(i int) { fmt.Fprintf(out, "{\"text\":\"row %d\"}\n", i) }
		for i := range before {
			row(i)
		}
		if err := out.Flush(); err != nil {
			wrote <- err
			return
		}
		<-seen
		for i := range after {
			row(before + i)
		}
		wrote <- out.Flush()
	}()
	hurry(t)
	o := base("single_turn")
	o.Early = true
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := s.(*indexed)
	if !ok {
		t.Fatalf("the rows were kept: %T", s)
	}
	text := func(i int) string { return x.Conversation(i).Turns[0].Parts[0].Text }
	if got := text(0); got != "row 0" {
		t.Error(got)
	}
	close(seen)
	if n := x.Len(); n != before+after || <-wrote != nil {
		t.Errorf("%d rows", n)
	}
	for _, i := range []int{before + after - 1, 3, before} {
		if got := text(i); got != fmt.Sprint("row ", i) {
			t.Error(got)
		}
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// TestPipeIsTheSame checks that a pipe gives the same as a file.
func TestPipeIsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() {
		wrote <- os.WriteFile(path, []byte(`{"timestamp":1,"input_length":700,"hash_ids":[1,2],"output_length":9}`+"\n"+`{"session_id":"a","timestamp":2,"text_input":"t"}`+"\n"), 0o600)
	}()
	leftIsKept(t, path, base("mooncake_trace"))
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
