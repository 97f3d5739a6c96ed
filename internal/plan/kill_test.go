package plan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// killDir in the environment makes the test binary a program that goes on with a sweep in that directory.
const killDir = "RUN_AS_SWEEP_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		if err := resumeSweep(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if words := os.Getenv(serverOptions); words != "" {
		if err := mockServer(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// resumeSweep carries a sweep of four cells out, three runs each, and takes over what is finished.
func resumeSweep(dir string) error {
	seed := config.Seed("7")
	r := config.Default()
	r.Artifacts.Dir, r.RandomSeed, r.Resume = dir, &seed, true
	r.MultiRun.NumRuns = 3
	requests, users := 20, 1
	r.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Requests: &requests, Concurrency: &users}}
	r.Models.Items = []config.Model{{Name: "m"}}
	r.Endpoint.URLs = []string{"http://localhost:1"}
	r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: "repeated", Parameters: config.Axes{{Path: "phases.profiling.concurrency", Values: []any{1, 2, 4, 8}}}}
	i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard, Version: "test", Secrets: redact.NewSecrets()}, ctx: context.Background(), run: r}
	i.runner = seeded
	_, err := i.do()
	return err
}

// seeded is a run whose figures follow from its seed and its load alone; its summary is written in two steps with a pause between them, so that a kill
// may come at any of them.
func seeded(_ context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		return nil, err
	}
	n := *b.Profiling().Concurrency
	var number uint64
	if _, err := fmt.Sscan(string(*seed), &number); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(number, uint64(n)))
	reducer := set.NewReducer()
	const ms = 1_000_000
	for k := range 20 {
		start := int64(1+100*k) * ms
		first := start + int64(10+r.IntN(10*n))*ms
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: first, Text: "a"}, {At: first + 50*ms, Text: "b"}}}
		reducer.Add(set.Row(&record.Record{Start: start, End: first + 50*ms, WallOffset: 1e18}, reply, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
	}
	run := &metric.Run{Version: "test", BenchmarkID: id, Info: info, Profiling: reducer.Summary(metric.Window{})}
	layout := artifact.NewLayout(b.Artifacts.Dir, "")
	time.Sleep(time.Millisecond)
	if err := artifact.WriteReport(layout, run, ""); err != nil {
		return nil, err
	}
	time.Sleep(time.Millisecond)
	return run, nil
}

// ids are drawn anew by every invocation; times are those of the writing.
var ids = regexp.MustCompile(`[0-9a-f]{32}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?`)

// sums are the aggregate files below a directory.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "aggregate"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = ids.ReplaceAllString(strings.ReplaceAll(string(text), dir, "DIR"), "ID")
		return err
	})
	if err != nil || len(files) < 6 {
		t.Fatalf("%d aggregate files, %v", len(files), err)
	}
	return files
}

// TestKilled: a sweep that is killed twenty times at random instants and resumed each time adds up to the same as one that was not.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole, cut := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "cut")
	if err := resumeSweep(whole); err != nil {
		t.Fatal(err)
	}
	want := sums(t, whole)
	r := rand.New(rand.NewPCG(1, 1))
	kills := 0
	for range 400 {
		if kills == 20 {
			break
		}
		if err := os.RemoveAll(filepath.Join(cut, "aggregate")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), killDir+"="+cut)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(r.IntN(40_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		switch {
		case err == nil: // it was faster: another one begins
			if got := sums(t, cut); got["/aggregate/sweep_aggregate/profile_export_aiperf_sweep.json"] != want["/aggregate/sweep_aggregate/profile_export_aiperf_sweep.json"] {
				t.Fatalf("after %d kills the sweep adds up to something else", kills)
			}
			if err := os.RemoveAll(cut); err != nil {
				t.Fatal(err)
			}
		case cmd.ProcessState.ExitCode() == -1:
			kills++
		default:
			t.Fatalf("after %d kills: %v %s", kills, err, said.String())
		}
	}
	if kills < 20 {
		t.Fatalf("killed %d times only", kills)
	}
	if err := resumeSweep(cut); err != nil {
		t.Fatal(err)
	}
	got := sums(t, cut)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s differs after %d kills:\n%s\nwant\n%s", name, kills, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}
