package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"aiperf/internal/sim/mockserver"
)

// disturbance is what disturbs the client during a measurement.
type disturbance struct {
	name  string
	stops int // number of stops of 300 ms, one second apart
	busy  int // number of other programs that keep one core each busy
}

// stopLength is the length of one stop of the client.
const stopLength = 300 * time.Millisecond

func badDayFigure(b *suite) error {
	b.row("what happens", "capture", "TTFT p99", "truth", "error", "instants", "CPU an event", "verdict", "aim")
	for _, h := range []disturbance{
		{name: "nothing"}, {name: "3 stops of 300 ms", stops: 3},
		{name: "1 busy loop", busy: 1}, {name: "2 busy loops", busy: 2}, {name: "4 busy loops", busy: 4},
	} {
		for _, mode := range []string{"off", "auto"} {
			if err := whileBusy(h.busy, func() error { return b.badDay(h, mode) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// badDay measures while the client is disturbed, and compares the time to first token with the server's own instants.
func (b *suite) badDay(h disturbance, mode string) error {
	truth := filepath.Join(b.dir, "truth.jsonl")
	const streams, tokens = 12, 20
	requests := 180
	if b.short {
		requests = 96
	}
	var dir string
	var cpu time.Duration
	err := b.withServer(func(s *server) (err error) {
		dir, cpu, err = b.hurtProfile(h, "--url", s.url, "--tokenizer", "builtin", "--streaming", "--isl", "16", "--concurrency", strconv.Itoa(streams),
			"--request-count", strconv.Itoa(requests), "--export-level", "raw", "--capture", mode)
		return err
	}, "--ttft=140ms", "--itl=12ms", "--tokens="+strconv.Itoa(tokens), "--truth-log="+truth)
	if err != nil {
		return err
	}
	ours, server, err := firstTokens(truth, dir)
	if err != nil {
		return err
	}
	v, err := readValidity(dir)
	if err != nil {
		return err
	}
	clock := "kernel"
	if v.Packets > 0 {
		clock = fmt.Sprintf("packet %d of %d", v.Packets, v.Messages)
	}
	p99, right := ours.at(.99), server.at(.99)
	b.row(h.name, mode, span(p99), span(right), fmt.Sprintf("%+.1f %%", 100*(p99-right)/right), clock,
		span(float64(cpu)/float64(requests*tokens)), v.Verdict, "valid under 1 %, never valid over 5 %")
	return nil
}

// hurtProfile is profile with a disturbance.
func (b *suite) hurtProfile(h disturbance, args ...string) (dir string, cpu time.Duration, err error) {
	b.runs++
	dir = fmt.Sprintf("%s/run%d", b.dir, b.runs)
	cmd := exec.Command(b.aiperf, append([]string{"profile", "--model", "mock", "--ui", "none", "--random-seed", "1", "--artifact-dir", dir}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return dir, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for range h.stops {
		time.Sleep(time.Second)
		pause(cmd.Process) // a process that has ended cannot be stopped
		time.Sleep(stopLength)
		resume(cmd.Process)
	}
	if err := <-done; err != nil {
		return dir, 0, fmt.Errorf("%w\n%s", err, tail(out.Bytes()))
	}
	return dir, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// firstTokens returns the times from the start of each request to its first token: as recorded, and according to the server. A token that arrived
// while the server was writing it counts as correct, because the server, too, may have waited for a CPU during the write.
func firstTokens(truth, dir string) (ours, server sample, err error) {
	wrote := map[string]mockserver.Write{}
	err = eachLine(truth, func(t *mockserver.Truth) {
		for _, w := range t.Writes {
			if w.Events > 0 {
				wrote[t.RequestID] = w
				return
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	err = eachLine(dir+"/profile_export_raw.jsonl", func(r *rawLine) {
		w, known := wrote[r.Metadata.RequestID]
		if tokens := r.tokens(); known && len(tokens) > 0 {
			ours.add(tokens[0] - r.Metadata.Start)
			server.add(min(max(tokens[0], w.Before), w.After) - r.Metadata.Start)
		}
	})
	if err == nil && len(ours) == 0 {
		err = fmt.Errorf("%s: no first token to compare", dir)
	}
	return ours, server, err
}
