//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestInputsWithoutEnd: what never ends, or asks for more than there can be, is refused with the bound.
func TestInputsWithoutEnd(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(trace, []byte(`{"input_length":2000000000,"timestamp":0}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--input-file /dev/zero":                          "--input-file: /dev/zero:1: the line is longer than 256 MiB",
		"--system-prompt-file /dev/zero":                  "--system-prompt-file: /dev/zero: gives more than",
		"--input-file " + trace:                           "t.jsonl:1: input_length: must be at most 10000000 tokens, got 2000000000",
		"--isl 2000000000":                                "--isl must be at most 10000000 tokens, not 2000000000",
		"--isl-stddev 99999999999":                        "--isl-stddev must be at most 10000000 tokens, not 99999999999",
		"--request-rate-series /dev/zero --concurrency 1": "--request-rate-series: /dev/zero: gives more than",
	} {
		p := program(t, append([]string{"--model", "m", "--tokenizer", "builtin", "--url", "http://127.0.0.1:1"}, strings.Fields(args)...)...)
		if status := p.run(); status != 1 || !strings.Contains(p.stderr.String(), want) {
			t.Errorf("%s: exit status %d\n%s", args, status, p.stderr.String())
		}
	}
}

// TestPipeAsInput: a pipe of the shell is read once and sent.
func TestPipeAsInput(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 10)
	p := program(t, "--model", "m", "--tokenizer", "builtin", "--url", server.URL, "--request-count", "2", "--input-file", "/dev/fd/3")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.ExtraFiles = []*os.File{r}
	if _, err := w.WriteString(`{"text":"from a pipe"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if status := p.run(); status != 0 {
		t.Fatalf("exit status %d\n%s", status, p.stderr.String())
	}
	r.Close()
	text, err := os.ReadFile(filepath.Join(p.dir, "inputs.json"))
	if err != nil || !strings.Contains(string(text), "from a pipe") {
		t.Errorf("%v %s", err, text)
	}
}
