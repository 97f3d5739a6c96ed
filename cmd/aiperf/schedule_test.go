//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/mockserver"
)

// TestScheduleOfSessions: a file of conversations with times is replayed without any flag, every turn of it, at its instants.
func TestScheduleOfSessions(t *testing.T) {
	testhome.Slow(t)
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
	first := int64(math.MaxInt64)
	for _, l := range p.records() {
		if m := l.Metadata; m.Turn == 0 {
			first = min(first, m.Scheduled)
		}
	}
	for _, l := range p.records() { // never before its time: lateness depends on the machine
		m := l.Metadata
		if m.Start < m.Scheduled || m.Turn == 1 && m.Scheduled < first+int64(200*time.Millisecond) || m.Turn == 2 && m.Start < first+int64(210*time.Millisecond) {
			t.Errorf("turn %d was due %v and left %v after the first", m.Turn+1, time.Duration(m.Scheduled-first), time.Duration(m.Start-first))
		}
	}
}
