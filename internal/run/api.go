package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/stats"
	"aiperf/internal/telemetry/api"
	"aiperf/internal/telemetry/live"
)

// apiHost is where the API answers unless the settings say otherwise: to nobody but this machine.
const apiHost = "127.0.0.1"

// openPaths need no token: probes of Kubernetes and the page of Prometheus, which has figures alone.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// processToken opens the API of every run of this process: those of a series follow each other at one address.
var processToken = sync.OnceValue(rand.Text)

// longestDownload bounds one answer of the API.
const longestDownload = 10 * time.Minute

// apiState is what the API tells of a run. It is there before the run is open.
type apiState struct {
	cfg     *config.Benchmark
	opts    *Options
	figures *live.Figures
	load    atomic.Pointer[load.Generator] // nil until there is one
	results atomic.Pointer[api.Results]    // nil until the files are written
	worker  atomic.Pointer[string]         // name of what sends the requests
	began   time.Time
	failed  func(ctx context.Context) error // waits for the end of the server, or of the context; nil when it did not fail

	mu     sync.Mutex
	ended  map[int]*load.PhaseStats // by the index of the phase
	counts map[int]*[2]int64        // rows by the index of their phase: good ones and errors
	worked map[int]int64            // instant of the last of them
}

// startAPI answers questions about the run from now until its end, where that is asked for.
func (o *opened) startAPI(ctx context.Context, cfg *config.Benchmark, opts *Options, say *reporter) error {
	port, host := apiAddress(cfg)
	if port == 0 {
		return nil
	}
	tuning := &cfg.Environment.API
	origins, err := tuning.OriginList()
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.As("environment.api_server.cors_origins"), err)
	}
	t := &apiState{cfg: cfg, opts: opts, figures: live.NewFigures(), began: time.Now(), ended: map[int]*load.PhaseStats{}, counts: map[int]*[2]int64{}, worked: map[int]int64{}}
	settings, err := withoutKey(opts.InputConfig)
	if err != nil {
		return err
	}
	source := &api.Source{
		Ready: t.ready, Config: settings, Run: opts.Info, Metrics: t.metrics, Progress: t.progress, Workers: t.workers, Results: t.outcome,
		Page: func() []byte {
			return live.Page(opts.Version, pageLabels(cfg, opts), gaugesOf(standingOf(t.load.Load())), t.figures.Now())
		},
		Dir: cfg.Artifacts.Dir, Origins: origins,
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	guard := &live.Guard{Token: cmp.Or(cfg.Runtime.APIToken, tuning.Token, processToken()), Host: host, Open: func(path string) bool { return openPaths[path] }}
	server, err := live.Listen(ctx, address, longestDownload, guard.Wrap(source.Handler()))
	if err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("runtime.api_port"), address, err)
	}
	say.entrance("API of this run", server.URL()+"/api/progress", guard)
	t.failed = server.Failed
	o.api = t
	o.held.opened(func() error {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(tuning.ShutdownTimeout.Duration(), stopTime/2))
		defer cancel()
		return server.Close(limited)
	})
	return nil
}

// apiAddress is where the API is to answer; port 0 = nowhere.
func apiAddress(cfg *config.Benchmark) (port int, host string) {
	port, host = cfg.Environment.API.Port, cfg.Environment.API.Host
	if p := cfg.Runtime.APIPort; p != nil {
		port = *p
	}
	if cfg.Runtime.APIHost != "" {
		host = cfg.Runtime.APIHost
	}
	if host == "" {
		host = apiHost
	}
	return port, host
}

// withoutKey is the configuration that a run shows, without the place of its key.
func withoutKey(shown []byte) (json.RawMessage, error) {
	if len(shown) == 0 {
		return json.RawMessage("{}"), nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(shown, &all); err != nil {
		return nil, fmt.Errorf("configuration of the run: %w", err)
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(all["endpoint"], &inner) == nil && inner["api_key"] != nil {
		delete(inner, "api_key")
		text, err := json.Marshal(inner)
		if err != nil {
			return nil, err
		}
		all["endpoint"] = text
	}
	return json.Marshal(all)
}

// begin tells that there is something to ask. A nil one is asked by nobody.
func (t *apiState) begin(o *opened) {
	if t != nil {
		t.worker.Store(&o.executor.worker)
		t.load.Store(o.load)
	}
}

// watch ends a context when the API fails: whoever follows the run through it would go on with a run that nobody can see. The returned function
// ends the watch and tells what went wrong.
func (t *apiState) watch(ctx context.Context) (watched context.Context, end func() error) {
	if t == nil {
		return ctx, func() error { return nil }
	}
	watched, cancel := context.WithCancelCause(ctx)
	looking, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		err := t.failed(looking)
		if err != nil {
			err = fmt.Errorf("the API of this run failed: %w", err)
			cancel(err)
		}
		done <- err
	}()
	return watched, func() error {
		stop()
		defer cancel(nil)
		return <-done
	}
}

// over tells that the files of the run are written.
func (t *apiState) over(run *metric.Run) {
	if t == nil {
		return
	}
	r := &api.Results{Status: "complete", Results: final(run)}
	if run.Cancelled {
		r.Status = "cancelled"
	}
	t.results.Store(r)
}

// after notes how a phase ended.
func (t *apiState) after(f *load.PhaseStats) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[f.Info.Index] = f
}

// Observe implements pipeline.Observer.
func (t *apiState) Observe(row *metric.Row) {
	t.figures.Observe(row)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts[row.Meta.PhaseIndex]
	if c == nil {
		c = new([2]int64)
		t.counts[row.Meta.PhaseIndex] = c
	}
	t.worked[row.Meta.PhaseIndex] = clock.Now()
	switch row.Class {
	case metric.Cut:
	case metric.Failed:
		c[1]++
	default:
		c[0]++
	}
}

func (t *apiState) ready() bool { return t.load.Load() != nil && t.results.Load() == nil }

func (t *apiState) outcome() api.Results {
	if r := t.results.Load(); r != nil {
		return *r
	}
	return api.Results{Status: "running"}
}

// metrics are the figures of the requests so far.
func (t *apiState) metrics() any {
	all := map[string]any{}
	for _, f := range t.figures.Now() {
		m := map[string]any{"header": f.Header, "unit": f.Display, "avg": f.Avg}
		if f.HasDistribution {
			m["min"], m["max"], m["std"], m["count"], m["sum"], m["current"] = f.Min, f.Max, f.Std, f.Count, f.Sum, f.Current
			for i, level := range stats.Levels {
				if q := f.Quantiles[i]; q == q {
					m["p"+strconv.FormatFloat(level, 'g', -1, 64)] = q
				}
			}
		}
		all[f.Tag] = m
	}
	out := map[string]any{"aiperf_version": t.opts.Version, "metrics": all}
	for _, l := range pageLabels(t.cfg, t.opts) {
		out[l.Name] = l.Value
	}
	out["streaming"] = t.cfg.Endpoint.Streaming
	if p := t.cfg.Profiling(); p != nil {
		out["concurrency"], out["request_rate"] = p.Concurrency, p.Rate
	}
	return out
}

// workers is the one thing that sends requests here: this process.
func (t *apiState) workers() any {
	name := t.worker.Load()
	if name == nil {
		return map[string]any{"workers": map[string]any{}}
	}
	var sent, completed, failed, good, bad int64
	if g := t.load.Load(); g != nil {
		for _, s := range g.Snapshots() {
			sent, completed, failed = sent+s.Sent, completed+s.Completed, failed+s.Errors
		}
	}
	t.mu.Lock()
	for _, c := range t.counts {
		good, bad = good+c[0], bad+c[1]
	}
	t.mu.Unlock()
	up, cpu := time.Since(t.began), processCPU()
	share := 100 * cpu.Seconds() / max(up.Seconds(), 1e-3)
	return map[string]any{"workers": map[string]any{*name: map[string]any{
		"worker_id": *name, "status": "healthy",
		"task_stats":       map[string]int64{"total": sent, "completed": completed - failed, "failed": failed},
		"processing_stats": map[string]int64{"processed": good + bad, "errors": bad},
		"health": map[string]any{
			"pid": os.Getpid(), "create_time": float64(t.began.UnixNano()) / 1e9, "uptime": up.Seconds(), "cpu_usage": share, "memory_usage": memoryInUse(),
			"num_threads": runtime.NumGoroutine(), "cpu_times": map[string]float64{"user_and_system": cpu.Seconds()}, "io_counters": nil, "num_ctx_switches": nil,
		},
		"last_update_ns": clock.Wall(clock.Now()),
	}}}
}
