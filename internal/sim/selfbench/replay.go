package main

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the embedded trace
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// trace is the first ten minutes of the Mooncake project's conversation trace (Apache-2.0).
//
//go:embed testdata/mooncake_10min.jsonl.gz
var trace []byte

func replayFigure(b *suite) error {
	speed := 30
	if b.short {
		speed = 120
	}
	path := filepath.Join(b.dir, "mooncake.jsonl")
	if err := unpack(path); err != nil {
		return err
	}
	var rows []traceRow
	if err := eachLine(path, func(r *traceRow) { rows = append(rows, *r) }); err != nil {
		return err
	}
	b.row("trace", "requests", "lag p50", "p99", "max", "verdict", "aim")
	return b.withServer(func(s *server) error {
		list, v, err := b.runBenchmark("--url", s.url, "--streaming", "--input-file", path, "--custom-dataset-type", "mooncake_trace",
			"--fixed-schedule", "--synthesis-speedup-ratio", strconv.Itoa(speed))
		if err != nil {
			return err
		}
		bare, err := bareReplay(strings.TrimPrefix(s.url, "http://"), rows, float64(speed))
		if err != nil {
			return err
		}
		p50, p99, largest := bare.spread()
		b.row("a bare thread, for comparison", len(bare), p50, p99, largest, "", "the baseline")
		p50, p99, largest = lagsOf(list).spread()
		b.row(fmt.Sprintf("mooncake, 10 minutes, %d times as fast", speed), len(list), p50, p99, largest, v.Verdict, "p99 < 1 ms")
		return nil
	}, "--ttft=20ms", "--itl=2ms")
}

func unpack(path string) error {
	r, err := gzip.NewReader(bytes.NewReader(trace))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
