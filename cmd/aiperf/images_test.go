//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestImagesWithServerCounts: the images of a request are counted whoever counts its tokens, live as in a report.
func TestImagesWithServerCounts(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 1000)
	in := filepath.Join(t.TempDir(), "in.jsonl")
	image := `{"type":"image_url","image_url":{"url":"http://images.invalid/a.png"}}`
	line := `{"output_length":4,"messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},` + image + "," + image + "]}]}\n"
	if err := os.WriteFile(in, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	p := program(t, "--url", server.URL, "--model", "m", "--input-file", in, "--request-count", "2", "--use-server-token-count", "--export-level", "raw")
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	if got := p.summary().avg(t, "num_images"); got != 2 {
		t.Errorf("num_images %v, want 2", got)
	}
}
