//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProgressAtTerminal: during long work a terminal shows the progress on one line, which is redrawn and removed at the end. The
// work is as long as the test wants: it reads a pipe that gets rows until the line was seen.
func TestProgressAtTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, row, line, end string }{
		{"dataset convert", `{"text":"a b c"}`, "dataset convert: ", " written to "},
		{"validate mooncake-trace", `{"timestamp":1,"input_length":30,"output_length":3}`, "validate: ", " rows are Mooncake-compatible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe, out := filepath.Join(dir, "rows"), filepath.Join(dir, "out.jsonl")
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			p := program(t)
			p.cmd = command(t, map[string][]string{
				"dataset convert":         {"dataset", "convert", pipe, out, "--custom-dataset-type", "single_turn", "--to", "multi_turn"},
				"validate mooncake-trace": {"validate", "mooncake-trace", "--input", pipe},
			}[c.name]...)
			s := startScreen(t, p, 80, 24)
			rows, err := os.OpenFile(pipe, os.O_RDWR, 0) // waits for no reader
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			more := time.NewTicker(5 * time.Millisecond)
			defer more.Stop()
			for end := time.After(patience / 2); !strings.Contains(s.text(), c.line); {
				if _, err := fmt.Fprintln(rows, c.row); err != nil {
					t.Fatal(err)
				}
				select {
				case <-more.C:
				case <-end:
					t.Fatalf("no progress is shown:\n%s", s.text())
				}
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if status := s.wait(); status != 0 {
				t.Fatalf("status %d\n%s", status, s.text())
			}
			s.shows(c.end)
			raw := s.raw()
			at := strings.LastIndex(raw, c.line)
			if kept := raw[at:]; !strings.Contains(kept, "\r\x1b[K") {
				t.Errorf("the line is not taken away: %q", kept)
			}
			if lines := strings.Count(raw[:at], "\n"); lines > 0 {
				t.Errorf("%d lines stand before what was drawn: %q", lines, raw)
			}
		})
	}
}
