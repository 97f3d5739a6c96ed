package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDraft: a file has its name when it is whole, and nothing is left of one that is not; a directory likewise.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	p := &Program{Streams: Streams{Err: &strings.Builder{}}}
	for _, keep := range []bool{true, false} {
		to := filepath.Join(dir, "deep", map[bool]string{true: "kept", false: "dropped"}[keep])
		d, err := p.draftFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.WriteString("text"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(to); err == nil {
			t.Error("it has its name before it is whole")
		}
		if keep {
			if err := d.commit(); err != nil {
				t.Fatal(err)
			}
		}
		d.drop()
	}
	if list, err := os.ReadDir(filepath.Join(dir, "deep")); err != nil || len(list) != 1 || list[0].Name() != "kept" {
		t.Errorf("%v %v", list, err)
	}
	d, err := p.draftDirectory(filepath.Join(dir, "folder"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.path, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.commit(); err != nil {
		t.Fatal(err)
	}
	d.drop()
	if _, err := os.Stat(filepath.Join(dir, "folder", "x")); err != nil {
		t.Error(err)
	}
}

// TestDraftTarget: a link stays one and what it leads to is written; a directory is refused; a target that is not a file, here a pipe, is written and stays.
func TestDraftTarget(t *testing.T) {
	dir := t.TempDir()
	p := &Program{Streams: Streams{Err: &strings.Builder{}}}
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, to := range []string{link, fmt.Sprintf("/dev/fd/%d", w.Fd())} {
		d, err := p.draftFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.WriteString("new"); err != nil {
			t.Fatal(err)
		}
		if err := d.commit(); err != nil {
			t.Fatal(err)
		}
		d.drop()
	}
	piped := make([]byte, 3)
	if _, err := io.ReadFull(r, piped); err != nil || string(piped) != "new" {
		t.Errorf("the pipe has %q (%v)", piped, err)
	}
	text, err := os.ReadFile(file)
	if info, lerr := os.Lstat(link); err != nil || lerr != nil || string(text) != "new" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%q, link %v: %v %v", text, info, err, lerr)
	}
	if _, err := p.draftFile(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	w.Close()
}

// TestDraftSignal: at a signal what was written is gone, and the program ends with the status that shells know.
func TestDraftSignal(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		path := filepath.Join(dir, ".aiperf-part")
		if err := os.MkdirAll(filepath.Join(path, "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		status := make(chan int, 1)
		d := newDraft(nil, path, filepath.Join(dir, "out"), &said, func(n int) { status <- n })
		d.signals <- s
		if n := <-status; n != 128+int(s.(syscall.Signal)) {
			t.Errorf("%v: status %d", s, n)
		}
		d.drop()
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 || !strings.Contains(said.String(), "out was not written") {
			t.Errorf("%v: %v %v, said %q", s, list, err, &said)
		}
	}
}
