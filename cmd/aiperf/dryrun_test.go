//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestDryRun: a dry run refuses what the run would refuse before its first request, and else ends with what the run would do. It leaves
// nothing behind.
func TestDryRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"image.jsonl": `{"text":"a"}` + "\n" + `{"text":"b","image":"x.png"}`,
		"trace.jsonl": `{"timestamp":0,"input_length":100,"output_length":5}` + "\n" + `{"timestamp":180000,"input_length":300,"output_length":5}`,
		"texts.jsonl": `{"text":"one two three"}` + "\n" + `{"text":"one two three four five"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   string
		status int
		says   string // the last line of the error stream
	}{
		{"--isl 512 --request-rate 5 --request-count 900 --num-dataset-entries 37", 0, "dry run: 37 prompts, mean 512 tokens, about 3 min"},
		{"--input-file trace.jsonl", 0, "dry run: 2 prompts, mean 200 tokens, about 3 min"},
		{"--input-file texts.jsonl --concurrency 2 --request-count 9 --benchmark-duration 60", 0, "dry run: 2 prompts, mean 4 tokens, 9 requests as fast as the server answers"},
		{"--input-file texts.jsonl --use-server-token-count --benchmark-duration 60 --warmup-duration 20", 0, "dry run: 2 prompts, about 80 s"},
		{"--input-file texts.jsonl --concurrency 2 --benchmark-duration 60 --warmup-request-count 9", 0, "dry run: 2 prompts, mean 4 tokens, at least 60 s"},
		{"--concurrency 1,2 --benchmark-duration 60 --num-profile-runs 3", 0, "dry run: 2 cells, 6 runs, about 6 min in all; the first: 100 prompts, mean 550 tokens, about 60 s"},
		{"--input-file texts.jsonl --concurrency 1,2,4 --request-count 20 --num-profile-runs 2 --profile-run-cooldown-seconds 30", 0,
			"dry run: 3 cells, 6 runs, 120 requests, pauses of about 30 s; the first: 2 prompts, mean 4 tokens, 20 requests as fast as the server answers"},
		{"--input-file image.jsonl", 1, "error: image.jsonl:2: image: file not found: x.png"},
		{"--input-file texts.jsonl --user-centric-rate 1 --num-users 2 --request-count 4", 1, "error: --user-centric-rate needs conversations of several turns; rows of --input-file are single prompts"},
		{"--isl 0", 0, "warning: nothing to send: all generated data are switched off. Set --isl (now 0) and --batch-size-text (now 1) above 0, or add images (--image-width-mean), audio (--audio-length-mean) or video (--video-width); a run would be refused"},
		{"--request-rate-series texts.jsonl --benchmark-duration 9", 1, ""},
	} {
		cmd := command(t, append([]string{"profile", "--dry-run", "--model", "m", "--tokenizer", "builtin", "--url", "mock://"}, strings.Fields(c.args)...)...)
		var out, errs bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
		_ = cmd.Run() // the status is looked at below
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if got := cmd.ProcessState.ExitCode(); got != c.status || c.says != "" && lines[len(lines)-1] != c.says {
			t.Errorf("%s: exit status %d, %q\nwant %d, %q", c.args, got, errs.String(), c.status, c.says)
		}
		if (out.Len() == 0) != (c.status != 0) {
			t.Errorf("%s: %d bytes of configuration at status %d", c.args, out.Len(), c.status)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%d entries, %v: the dry runs left something", len(left), err)
	}
}
