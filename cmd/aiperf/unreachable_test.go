//go:build unix

package main

import (
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestDeadServerEndsTheDuration: where nobody listens a run with a duration of an hour ends after a few seconds, with all files and a
// sentence that gives the reason and what to try; with --no-fail-fast the run continues until its end.
func TestDeadServerEndsTheDuration(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name, duration, flag string
		ended                bool
	}{{"ends", "3600", "", true}, {"goes on", "4", "--no-fail-fast", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := towards(deadPort(t), "--concurrency", "2", "--benchmark-duration", c.duration)
			if c.flag != "" {
				args = append(args, c.flag)
			}
			p := program(t, args...)
			if got := p.run(); got != 1 {
				t.Errorf("exit status %d, want 1", got)
			}
			s := p.summary()
			failed := int(s.avg(t, "error_request_count"))
			lines := len(p.records())
			if p.complete(lines); failed < 100 || lines < failed || lines > failed+2 { // up to two were cut
				t.Errorf("%d failures, %d lines", failed, lines)
			}
			const says = "no connection to the server could be made"
			if told := strings.Contains(p.stderr.String(), says); told != c.ended {
				t.Errorf("told %v:\n%s", told, p.stderr.String())
			}
			if reason := s.text("incomplete_reason"); strings.Contains(reason, says) != c.ended || strings.Contains(reason, "--no-fail-fast") != c.ended {
				t.Errorf("reason %q", reason)
			}
		})
	}
}

// TestServerSaysOurWords: a server that speaks of open files is not this machine at its limits.
func TestServerSaysOurWords(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	p := program(t, towards(says(t, "HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 19\r\n\r\ntoo many open files"), "--request-count", "5")...)
	p.run()
	p.complete(5)
	var v struct {
		Verdict string
		Hits    int `json:"client_limit_hits"`
	}
	if p.summary().read(t, "validity", &v); v.Hits != 0 || v.Verdict == "client limited" {
		t.Errorf("%s, %d hits", v.Verdict, v.Hits)
	}
}
