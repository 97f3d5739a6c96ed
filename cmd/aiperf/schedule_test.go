package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/mockserver"
)

// TestScheduleOfSessions: a file of conversations with times is replayed without any flag, every turn of it, at its instants.
func TestScheduleOfSessions(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 5 {
		fmt.Fprintf(&rows, `{"session_id":"s%d","turns":[{"text":"a","timestamp":%d},{"text":"b","timestamp":%d},{"text":"c","delay":10}]}`+"\n", i, 1000+20*i, 1200+20*i)
	}
	dir := t.TempDir()
	in, truth := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "truth.jsonl")
	if err := os.WriteFile(in, []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	p := program(t, "--url", "mock://?ttft=1ms&itl=0&tokens=2&truth-log="+truth, "--tokenizer", "builtin", "--input-file", in)
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	p.complete(15)
	if got := p.summary().text("is_complete"); got != "true" {
		t.Errorf("is_complete %s", got)
	}
	seen := readLines[mockserver.Truth](t, truth)
	if len(seen) != 15 {
		t.Errorf("the server saw %d requests, want 15", len(seen))
	}
	first, early := int64(0), 0
	for _, l := range p.records() {
		if first == 0 || l.Metadata.Start < first {
			first = l.Metadata.Start
		}
	}
	for _, l := range p.records() { // never before its time: lateness depends on the machine
		if at := time.Duration(l.Metadata.Start - first); l.Metadata.Turn > 0 && at < 199*time.Millisecond {
			early++
		}
	}
	if early > 0 {
		t.Errorf("%d later turns left before their time", early)
	}
}
