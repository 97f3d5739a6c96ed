package plan

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/metric"
)

// TestTurns: blocks take turns in a random order that the seed gives, the two of a pair have one seed, and a target that is 10 % slower is found.
func TestTurns(t *testing.T) {
	run := config.Default()
	run.Artifacts.Dir = t.TempDir()
	requests, users := 1000, 2
	run.Phases = []config.Phase{
		{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Requests: &requests},
		{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Requests: &requests, Concurrency: &users},
	}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	seeds, order, phases := map[string]string{}, "", 0
	i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard}, ctx: t.Context(), run: run}
	i.runner = func(_ context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, _ string) (*metric.Run, error) {
		pair, side, _ := strings.Cut(strings.TrimPrefix(info.RunLabel, "pair_"), "_")
		if was, ok := seeds[pair]; ok && was != string(*seed) {
			t.Errorf("pair %s has the seeds %s and %s", pair, was, *seed)
		}
		seeds[pair], order, phases = string(*seed), order+side, phases+len(b.Phases)
		if p := b.Profiling(); float64(*p.Duration) != 6 || p.Requests != nil || *p.Concurrency != 2 || b.Endpoint.URLs[0] != "http://"+side {
			t.Errorf("%s: %+v of %v", info.RunLabel, p, b.Endpoint.URLs)
		}
		factor := map[string]float64{"a": 1, "b": 1.1}[side]
		return measured(t, 3, 0), blockFile(b.Artifacts.Dir, factor, uint64(len(order)))
	}
	r, err := i.turns(TurnOptions{A: "http://a", B: "http://b", Pairs: 12, Block: 6, Wash: 2,
		Compare: comparison.Options{Confidence: .95, Margin: .05, Metrics: []string{"request_latency:mean", "request_latency:p50"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(order) != 24 || len(seeds) != 12 || strings.Count(order, "a") != 12 || !strings.Contains(order, "ba") || phases != 26 {
		t.Errorf("order %s, %d seeds, %d phases", order, len(seeds), phases)
	}
	if r.Outcome != comparison.Worse || len(r.Lines) != 2 || r.Lines[0].Difference < .08 || r.Lines[0].Difference > .12 {
		t.Errorf("%+v", r.Lines)
	}
	if _, err := os.Stat(filepath.Join(run.Artifacts.Dir, "comparison.json")); err != nil {
		t.Error(err)
	}
}

// TestTurnsInParallel: both blocks of a pair are under way at once, and the pairs stay pairs.
func TestTurnsInParallel(t *testing.T) {
	run := config.Default()
	run.Artifacts.Dir = t.TempDir()
	users := 2
	run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: &users}}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard}, ctx: t.Context(), run: run}
	meet := make(chan string)
	i.runner = func(ctx context.Context, b *config.Benchmark, _ *config.Seed, info metric.RunInfo, _ string) (*metric.Run, error) {
		pair, side, _ := strings.Cut(info.RunLabel, "_a")
		factor := 1.1
		if strings.HasSuffix(info.RunLabel, "_a") {
			factor, side = 1, "a"
			select { // waits for the other block of the pair
			case other := <-meet:
				if other != pair+"_b" {
					t.Errorf("%s runs beside %s", info.RunLabel, other)
				}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		} else {
			meet <- info.RunLabel
		}
		return measured(t, 3, 0), blockFile(b.Artifacts.Dir, factor, uint64(len(info.RunLabel+side))+uint64(info.RunLabel[6]))
	}
	r, err := i.turns(TurnOptions{A: "http://a", B: "http://b", Pairs: 6, Block: 6, Wash: 2, Parallel: true,
		Compare: comparison.Options{Confidence: .95, Margin: .05, Metrics: []string{"request_latency:mean"}}})
	if err != nil || len(r.A) != 6 || r.Outcome != comparison.Worse {
		t.Errorf("%+v %v", r, err)
	}
}

// TestTurnsInterrupted: the pairs before an interruption are judged, and the result says how many are missing.
func TestTurnsInterrupted(t *testing.T) {
	run := config.Default()
	run.Artifacts.Dir = t.TempDir()
	run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	ctx, interrupt := context.WithCancel(t.Context())
	i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard}, ctx: ctx, run: run}
	blocks := 0
	i.runner = func(_ context.Context, b *config.Benchmark, _ *config.Seed, _ metric.RunInfo, _ string) (*metric.Run, error) {
		if blocks++; blocks == 18 { // the second block of the ninth pair
			interrupt()
		}
		return measured(t, 3, 0), blockFile(b.Artifacts.Dir, 1, uint64(blocks))
	}
	r, err := i.turns(TurnOptions{A: "http://a", B: "http://b", Pairs: 12, Block: 6, Wash: 2, Compare: comparison.Options{Confidence: .95, Margin: .05}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "interrupted after 8 of 12 pairs: all of them find smaller differences"
	text, err := os.ReadFile(filepath.Join(run.Artifacts.Dir, "comparison.json"))
	if err != nil || len(r.A) != 8 || !slices.Contains(r.Notes, want) || !strings.Contains(string(text), want) {
		t.Errorf("%d pairs, %q, %v", len(r.A), r.Notes, err)
	}
}

// TestTurnsAgain: pairs that the client could not keep are repeated, at most half as many as requested; the pairs measured so far are shown.
func TestTurnsAgain(t *testing.T) {
	for _, c := range []struct {
		spoilt         string // pairs
		blocks, counts int
		refused        string
	}{
		{"01 04", 16, 6, ""},
		{"01 02 03 04", 18, 5, "only 5 of 9 pairs are valid; at least 6 are needed: in 4 of 18 blocks its latencies are uncertain"},
	} {
		run := config.Default()
		run.Artifacts.Dir = t.TempDir()
		run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
		run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
		i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard}, ctx: t.Context(), run: run}
		blocks := 0
		i.runner = func(_ context.Context, b *config.Benchmark, _ *config.Seed, info metric.RunInfo, _ string) (*metric.Run, error) {
			blocks++
			verdict := "valid"
			if pair, side, _ := strings.Cut(strings.TrimPrefix(info.RunLabel, "pair_"), "_"); side == "b" && strings.Contains(c.spoilt, pair) {
				verdict = "uncertain"
			}
			if err := blockFile(b.Artifacts.Dir, 1, uint64(blocks)); err != nil {
				return nil, err
			}
			return measured(t, 3, 0), os.WriteFile(filepath.Join(b.Artifacts.Dir, "profile_export_aiperf.json"), []byte(`{"validity":{"verdict":"`+verdict+`"}}`), 0o600)
		}
		r, err := i.turns(TurnOptions{A: "http://a", B: "http://b", Pairs: 6, Block: 6, Wash: 2, Compare: comparison.Options{Confidence: .95, Margin: .05}})
		if err != nil || blocks != c.blocks || len(r.A) != c.counts || r.Refused != c.refused {
			t.Errorf("%s: %d blocks, %+v %v", c.spoilt, blocks, r, err)
		}
	}
}

// blockFile writes the records of a block of 6 s: 20 requests a second, the first 2 s ten times as slow.
func blockFile(dir string, factor float64, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for k := range 120 {
		start := int64(1e18) + int64(k)*50_000_000
		latency := factor * (95 + 10*r.Float64())
		if k < 40 {
			latency *= 10
		}
		fmt.Fprintf(&text, `{"metadata":{"benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"request_latency":{"value":%g}}}`+"\n",
			start, start+int64(latency*1e6), latency)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "profile_export.jsonl"), []byte(text.String()), 0o600)
}

// TestShortBlocks: the advised length is longer than the block, and the standard block is long enough for a fast server.
func TestShortBlocks(t *testing.T) {
	for _, c := range []struct {
		block, wash, median float64
		want                string
	}{
		{6, 2, 0.06, ""},
		{3, 1, 0.06, "blocks of 3 s are short for a latency of 0.06 s; write BLOCK 4s or longer"},
		{6, 2, 0.15, "blocks of 6 s are short for a latency of 0.15 s; write BLOCK 7s or longer"},
		{6, 2, 2, "blocks of 6 s are short for a latency of 2 s; write BLOCK 12s or longer"},
	} {
		o := TurnOptions{Block: c.block, Setting: "BLOCK", Wash: c.wash}
		if got := o.short(c.median); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
