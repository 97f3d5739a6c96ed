package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"aiperf/internal/sim/mockserver"
)

// watchedLoad is a load whose stamps are checked.
type watchedLoad struct {
	streams, seconds int
	spread           bool // starts are spread over a second, so that answers do not all end together
	busy             bool // other processes keep every core busy
	nagle            bool // the server leaves Nagle's algorithm on
	aim              string
}

func (w watchedLoad) String() string {
	text := fmt.Sprintf("%d streams x 100 tokens/s, in step", w.streams)
	if w.spread {
		text = fmt.Sprintf("%d streams x 100 tokens/s", w.streams)
	}
	if w.busy {
		text += ", all cores busy"
	}
	if w.nagle {
		text += ", Nagle server"
	}
	return text
}

func stampFigure(b *suite) error {
	const idle, busy = "p50 < 20 µs, p99 < 100 µs", "p50 < 100 µs"
	b.row("load", "instants", "number", "p50", "p99", "max", "read delay p50", "aim")
	for _, w := range []watchedLoad{
		{streams: 100, seconds: 5, aim: idle},
		{streams: 100, seconds: 5, spread: true, aim: idle},
		{streams: 100, seconds: 5, spread: true, nagle: true, aim: "p50 < 100 µs"},
		{streams: 400, seconds: 4, spread: true, aim: idle},
		{streams: 400, seconds: 4},
		{streams: 100, seconds: 5, spread: true, busy: true, aim: busy},
	} {
		if b.short {
			w.seconds = 2
		}
		f := func() error { return b.stamps(w) }
		if w.busy {
			f = func() error { return whileBusy(runtime.NumCPU(), func() error { return b.stamps(w) }) }
		}
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// stamps runs streams for some seconds and compares the instants of their messages with the server's.
func (b *suite) stamps(w watchedLoad) error {
	truth := filepath.Join(b.dir, "truth.jsonl")
	var dir string
	err := b.withServer(func(s *server) (err error) {
		args := []string{"--url", s.url, "--streaming", "--isl", "16", "--concurrency", strconv.Itoa(w.streams),
			"--request-count", strconv.Itoa(w.streams * w.seconds), "--export-level", "raw"}
		if w.spread {
			args = append(args, "--concurrency-ramp-duration", "1")
		}
		dir, _, err = b.profile(args...)
		return err
	}, "--ttft=10ms", "--itl=10ms", "--tokens=100", "--truth-log="+truth, "--nagle="+strconv.FormatBool(w.nagle))
	if err != nil {
		return err
	}
	first, rest, err := errorsOf(truth, dir)
	if err != nil {
		return err
	}
	v, err := readValidity(dir)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name string
		s    sample
	}{{"first tokens", first}, {"all tokens", rest}} {
		p50, p99, largest := r.s.spread()
		b.row(w, r.name, len(r.s), p50, p99, largest, span(v.ReadDelay*1e6), w.aim)
	}
	return nil
}

// errorsOf returns how far the instants of tokens are behind the server's instants just before it wrote them.
func errorsOf(truth, dir string) (first, all sample, err error) {
	writes := map[string][]int64{}
	err = eachLine(truth, func(t *mockserver.Truth) {
		var at []int64
		for _, w := range t.Writes {
			for range w.Events {
				at = append(at, w.Before)
			}
		}
		writes[t.RequestID] = at
	})
	if err != nil {
		return nil, nil, err
	}
	var wrong error
	err = eachLine(dir+"/profile_export_raw.jsonl", func(r *rawLine) {
		tokens, sent := r.tokens(), writes[r.Metadata.RequestID]
		if len(tokens) != len(sent) {
			wrong = fmt.Errorf("request %s: %d tokens received, %d sent", r.Metadata.RequestID, len(tokens), len(sent))
			return
		}
		for i, at := range tokens {
			all.add(at - sent[i])
			if i == 0 {
				first.add(at - sent[i])
			}
		}
	})
	return first, all, errors.Join(err, wrong)
}

// rawLine is the part of a raw export's line that the figures need.
type rawLine struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Start     int64  `json:"request_start_ns"`
	} `json:"metadata"`
	StartPerf int64 `json:"start_perf_ns"`
	Responses []struct {
		PerfNS  int64 `json:"perf_ns"`
		Packets []struct{ Name, Value string }
	}
}

// tokens returns the instants of messages that carry text, in Unix ns.
func (r *rawLine) tokens() []int64 {
	var at []int64
	for _, m := range r.Responses {
		for _, p := range m.Packets {
			if p.Name == "data" && strings.Contains(p.Value, `"content":"`) && !strings.Contains(p.Value, `"content":""`) {
				at = append(at, r.Metadata.Start-r.StartPerf+m.PerfNS)
			}
		}
	}
	return at
}
