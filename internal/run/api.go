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

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/run/component"
	"aiperf/internal/run/watch"
	"aiperf/internal/telemetry/api"
	"aiperf/internal/telemetry/promserver"
	"aiperf/internal/workload/load"
)

// apiHost is the default address of the API: only this machine can reach it.
const apiHost = "127.0.0.1"

// openPaths lists the paths that need no token: the Kubernetes probes, and the Prometheus page, which shows only numbers.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// processToken is the access token of the API of every run of this process. The runs of a series use one address, one after the other.
var processToken = sync.OnceValue(rand.Text)

// longestDownload limits the time of one answer of the API.
const longestDownload = 10 * time.Minute

// apiState is the state of the run that the API reports. It exists before the run is open.
type apiState struct {
	cfg     *config.Benchmark
	opts    *Options
	figures *promserver.Figures
	load    atomic.Pointer[load.Sender] // nil until the load exists
	results atomic.Pointer[api.Results] // nil until the files are written
	worker  atomic.Pointer[string]      // name of the process that sends the requests
	began   time.Time
	failed  func(ctx context.Context) error // waits until the server or the context ends; returns nil if the server did not fail

	mu     sync.Mutex
	ended  map[int]*load.PhaseStats // by phase index
	counts map[int]*[2]int64        // numbers of successful and failed rows by phase index
	worked map[int]int64            // instant of the last processed row by phase index
}

// startAPI starts the API server if the settings ask for one. It answers from now until the end of the run.
func (o *runResources) startAPI(ctx context.Context) error {
	port, host := apiAddress(o.cfg)
	if port == 0 && o.opts.Web == nil {
		return nil
	}
	tuning := &o.cfg.Environment.API
	origins, err := tuning.OriginList()
	if err != nil {
		return fmt.Errorf("%s: %w", o.cfg.As("environment.api_server.cors_origins"), err)
	}
	t := &apiState{cfg: o.cfg, opts: o.opts, figures: promserver.NewFigures(), began: time.Now(), ended: map[int]*load.PhaseStats{}, counts: map[int]*[2]int64{}, worked: map[int]int64{}}
	settings, err := withoutKey(o.opts.InputConfig)
	if err != nil {
		return err
	}
	info := o.opts.Info
	info.BenchmarkID = o.opts.BenchmarkID
	source := &api.Source{
		Ready: t.ready, Config: settings, Run: info, Metrics: t.metrics, Progress: t.progress, Workers: t.workers, Results: t.outcome,
		Page: func() []byte {
			return promserver.Page(o.opts.Version, pageLabels(o.cfg, o.opts), gaugesOf(standingOf(t.load.Load())), t.figures.Now())
		},
		Dir: o.cfg.Artifacts.Dir, Origins: origins,
	}
	o.api = t
	if o.opts.Web != nil {
		o.opts.Web.Serve(source.Handler())
	}
	if port == 0 {
		t.failed = func(ctx context.Context) error { <-ctx.Done(); return nil }
		return nil
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	guard := &promserver.AccessGuard{Token: cmp.Or(o.cfg.Runtime.APIToken, tuning.Token, processToken()), Host: host, Open: func(path string) bool { return openPaths[path] }}
	server, err := promserver.Listen(ctx, address, longestDownload, guard.Wrap(source.Handler()))
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.cfg.As("runtime.api_port"), address, err)
	}
	address, withToken := server.URL()+"/api/progress", ""
	if guard.Token == processToken() {
		withToken = guard.Address(address)
	}
	o.say.PrintAddress("API of this run", address, withToken)
	t.failed = server.Failed
	o.untilEnd.OnStop(func() error {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(tuning.ShutdownTimeout.Duration(), component.StopLimit/2))
		defer cancel()
		return server.Close(limited)
	})
	return nil
}

// apiAddress returns the port and host of the API. Port 0 means that there is no API.
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

// withoutKey returns the shown configuration of the run without the API key of the endpoint.
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

// begin gives the API the resources of the run to report on. It does nothing on a nil state.
func (t *apiState) begin(o *runResources) {
	if t != nil {
		name := o.executor.WorkerName()
		t.worker.Store(&name)
		t.load.Store(&o.load)
	}
}

// watch returns a context that ends when the API server fails, because nobody could follow the run any more. The function end stops watching and
// returns the error of the server.
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

// finish publishes the results after the files of the run are written.
func (t *apiState) finish(run *metric.Run) {
	if t == nil {
		return
	}
	r := &api.Results{Status: "complete", Results: finalResults(run)}
	if run.Cancelled {
		r.Status = "cancelled"
	}
	t.results.Store(r)
}

// after stores the final statistics of a phase.
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

// metrics returns the figures of the requests so far.
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

// workers returns the only worker there is: this process.
func (t *apiState) workers() any {
	name := t.worker.Load()
	if name == nil {
		return map[string]any{"workers": map[string]any{}}
	}
	var sent, completed, failed, good, bad int64
	if g := t.load.Load(); g != nil {
		for _, s := range (*g).Snapshots() {
			sent, completed, failed = sent+s.Sent, completed+s.Completed, failed+s.Errors
		}
	}
	t.mu.Lock()
	for _, c := range t.counts {
		good, bad = good+c[0], bad+c[1]
	}
	t.mu.Unlock()
	up, cpu := time.Since(t.began), watch.ProcessCPU()
	share := 100 * cpu.Seconds() / max(up.Seconds(), 1e-3)
	return map[string]any{"workers": map[string]any{*name: map[string]any{
		"worker_id": *name, "status": "healthy",
		"task_stats":       map[string]int64{"total": sent, "completed": completed - failed, "failed": failed},
		"processing_stats": map[string]int64{"processed": good + bad, "errors": bad},
		"health": map[string]any{
			"pid": os.Getpid(), "create_time": float64(t.began.UnixNano()) / 1e9, "uptime": up.Seconds(), "cpu_usage": share, "memory_usage": watch.MemoryInUse(),
			"num_threads": runtime.NumGoroutine(), "cpu_times": map[string]float64{"user_and_system": cpu.Seconds()}, "io_counters": nil, "num_ctx_switches": nil,
		},
		"last_update_ns": clock.Wall(clock.Now()),
	}}}
}
