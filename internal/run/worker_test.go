package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/run/results"
	"aiperf/internal/workload/load"
)

// controllerDouble is a controller of several runs in this process.
type controllerDouble struct {
	n      int
	mu     sync.Mutex
	gates  map[string]*gate
	leases map[int]*load.Leases
	counts map[int]int64
}

type gate struct {
	used    load.Usage
	arrived int
	at      int64
	open    chan struct{}
}

func (c *controllerDouble) wait(ctx context.Context, key string, own load.Usage) (*gate, error) {
	c.mu.Lock()
	g := c.gates[key]
	if g == nil {
		g = &gate{open: make(chan struct{})}
		c.gates[key] = g
	}
	g.used = g.used.Max(own)
	if g.arrived++; g.arrived == c.n {
		g.at = clock.Now() + int64(100*time.Millisecond)
		close(g.open)
	}
	c.mu.Unlock()
	select {
	case <-g.open:
		return g, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// machineDouble is one machine of it.
type machineDouble struct {
	*controllerDouble
	index int
}

func (m machineDouble) Open(ctx context.Context, p *load.PhaseInfo, own load.Usage) (load.Usage, error) {
	g, err := m.wait(ctx, "open "+p.Name, own)
	if err != nil {
		return own, err
	}
	return g.used, nil
}

func (m machineDouble) Begin(ctx context.Context, p *load.PhaseInfo) (int64, error) {
	g, err := m.wait(ctx, "begin "+p.Name, load.Usage{})
	if err != nil {
		return 0, err
	}
	return g.at, nil
}

func (m machineDouble) Lease(ctx context.Context, p *load.PhaseInfo, ask load.Ask) (load.Lease, error) {
	m.mu.Lock()
	l := m.leases[p.Index]
	if l == nil {
		l = load.NewLeases(m.counts[p.Index], m.n)
		m.leases[p.Index] = l
	}
	m.mu.Unlock()
	return l.Take(ctx, m.index, ask)
}

// bodyLog is a server that keeps the bodies that it gets.
type bodyLog struct {
	mu   sync.Mutex
	list []string
}

func (l *bodyLog) start(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		l.list = append(l.list, string(b))
		l.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func selectionOf(t *testing.T, b *config.Benchmark) *metric.Selection {
	t.Helper()
	e, err := findEndpoint(b, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	set, err := metric.NewSelection(results.MetricOptions(b, e))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestWorkersSendTheRunOfOneProcess: the workers of a run send the bodies of one process, each once, and their pieces hold every request.
func TestWorkersSendTheRunOfOneProcess(t *testing.T) {
	testhome.Slow(t)
	seed := config.Seed("7")
	for name, change := range map[string]func(*config.Benchmark){
		"closed loop": func(b *config.Benchmark) { b.Phases[0].Concurrency, b.Phases[0].Requests = ptr(6), ptr(61) },
		"rate": func(b *config.Benchmark) {
			rate := 300.0
			b.Phases[0].Type, b.Phases[0].Rate, b.Phases[0].Concurrency, b.Phases[0].Requests = config.PhasePoisson, &rate, nil, ptr(61)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := func(dir, url string) *config.Benchmark {
				b := whole(dir, url, 61)
				b.Dataset().Entries = 61
				b.Environment.Timing.MaxCatchup = 1000 // a slow test machine skips no request
				change(b)
				return b
			}
			var one bodyLog
			want, err := Run(t.Context(), settings(t.TempDir(), one.start(t)), &seed, Options{Version: "test", Err: io.Discard, BenchmarkID: "id"})
			if err != nil {
				t.Fatal(err)
			}
			const n = 2
			var all bodyLog
			url, dir := all.start(t), t.TempDir()
			c := &controllerDouble{n: n, gates: map[string]*gate{}, leases: map[int]*load.Leases{}, counts: map[int]int64{0: 61}}
			var running sync.WaitGroup
			set := selectionOf(t, settings(dir, url))
			expected := pieces.Expected{Metrics: set, Phases: 1, Files: 1}
			accounts, merged := make([]pieces.Account, n), set.NewReducer()
			var mu sync.Mutex
			lines := 0
			for k := range n {
				b := settings(filepath.Join(dir, fmt.Sprint(k)), url)
				running.Go(func() {
					w := &Worker{
						Name: fmt.Sprint("w", k), Share: load.Share{Index: k, Of: n}, Coordinator: machineDouble{c, k},
						Sink: func(_ int64, sealed []byte, _ bool) error {
							mu.Lock()
							defer mu.Unlock()
							p, err := expected.Open(sealed)
							if err == nil {
								err = accounts[k].Add(p)
							}
							if err != nil {
								return err
							}
							for _, r := range p.Results {
								if !bytes.Contains(r.Lines, []byte(`"clock_offset_ns":`)) {
									t.Errorf("a record without the machine's clock offset: %s", r.Lines)
								}
								if merged.Add(r.Row); r.Row.Meta.WorkerID == fmt.Sprint("w", k) && len(r.Lines) > 100 && r.Lines[len(r.Lines)-1] == '\n' {
									lines++
								}
							}
							return nil
						},
						WallOffset: func(int64) int64 { return 1_700_000_000_000_000_000 },
					}
					if _, err := Run(t.Context(), b, &seed, Options{Version: "test", Err: io.Discard, BenchmarkID: "id", Worker: w}); err != nil {
						t.Errorf("machine %d: %v", k, err)
					}
				})
			}
			running.Wait()
			slices.Sort(one.list)
			slices.Sort(all.list)
			if !slices.Equal(one.list, all.list) {
				t.Errorf("%d bodies, want the %d of one process", len(all.list), len(one.list))
			}
			var parts []*load.PhaseStats
			for k := range n {
				s := &accounts[k]
				report, err := ReadWorkerReport(s.About())
				if err != nil || !s.Complete() || len(report.Phases) != 1 || report.Phases[0].Sent != s.Rows || report.Stats.Cores < 1 || report.Error != "" {
					t.Fatalf("machine %d: %+v, %+v, %v", k, s, report, err)
				}
				parts = append(parts, report.Phases[0])
			}
			got := merged.Summary(metric.Window{})
			if lines != 61 {
				t.Errorf("%d lines of the records file", lines)
			}
			if got.Valid != want.Profiling.Valid || got.Valid != 61 || load.MergeShares(parts).Sent != 61 {
				t.Errorf("%d valid requests, want %d", got.Valid, want.Profiling.Valid)
			}
			if at := got.Span.From - 1_700_000_000_000_000_000; at < 0 || at > int64(time.Hour) {
				t.Errorf("the first request was sent at %d on the clock of the controller", got.Span.From)
			}
			for _, tag := range []string{"input_sequence_length", "output_sequence_length"} {
				if a, b := got.Value(tag, metric.Avg), want.Profiling.Value(tag, metric.Avg); a != b {
					t.Errorf("%s: %v, want %v", tag, a, b)
				}
			}
		})
	}
}

func TestReportOfNonsense(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("nonsense"), {1, 255, 255, 255}} {
		if r, err := ReadWorkerReport(b); err == nil {
			t.Errorf("%q: %+v", b, r)
		}
	}
}
