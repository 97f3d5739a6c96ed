package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/gpu"
	"aiperf/internal/telemetry/servermetrics"
)

// watched is the component that watches exporters beside the run: those of GPUs and those of the servers. Nothing of it waits for the load, and
// the load waits for it once, before a phase begins and for boundaryTime at most.
type watched struct {
	passive
	cfg     *config.Benchmark
	opts    *Options
	urls    []string // of the servers
	layout  artifact.Layout
	say     *reporter
	client  *telemetry.Client
	gpu     *gpu.Collector           // nil = not wanted
	servers *servermetrics.Collector // nil = not wanted
	files   []*artifact.Lines
}

// Bounds of what a run waits for.
const (
	boundaryTime = time.Second     // of the reading before a phase
	finalTime    = 5 * time.Second // of the last reading of GPUs
)

// Start implements component: exporters are looked for and asked once.
func (w *watched) Start(ctx context.Context) error {
	b := w.cfg
	w.client = telemetry.NewClient("aiperf/"+w.opts.Version, b.Environment.HTTP.SSLVerify)
	var both sync.WaitGroup
	if b.GPUTelemetry.Enabled {
		if c := b.GPUTelemetry.Collector; c != "dcgm" {
			return fmt.Errorf("%s %s: not built yet", b.As("gpu_telemetry.urls"), c)
		}
		more, err := w.customFields()
		if err != nil {
			return err
		}
		tuning := b.Environment.GPU
		o := gpu.Options{
			Client: w.client, URLs: telemetry.URLs(b.GPUTelemetry.URLs), Defaults: tuning.DefaultDCGMEndpoints, More: more,
			Cadence: w.cadence(tuning.CollectionInterval.Duration()), Reachable: tuning.ReachabilityTimeout.Duration(),
			Line: w.lines(w.layout.GPUTelemetry()), Warn: w.say.warn, Log: w.say.log, Silence: b.As("gpu_telemetry.enabled") + " takes this line away",
		}
		both.Go(func() { w.gpu = gpu.Open(ctx, o) })
	}
	if b.ServerMetrics.Enabled {
		tuning := b.Environment.Server
		o := servermetrics.Options{
			Client: w.client, Servers: w.httpServers(), URLs: b.ServerMetrics.URLs,
			Cadence: w.cadence(tuning.CollectionInterval.Duration()), Reachable: tuning.ReachabilityTimeout.Duration(), Warn: w.say.warn, Log: w.say.log,
			Silence: b.As("server_metrics.enabled") + " takes this line away",
		}
		if w.format("jsonl") {
			o.Line = w.lines(w.layout.ServerMetrics("jsonl"))
		}
		both.Go(func() { w.servers = servermetrics.Open(ctx, o) })
	}
	both.Wait()
	return nil
}

// customFields reads the file of figures beside the usual ones, if there is one.
func (w *watched) customFields() ([]gpu.Field, error) {
	path := w.cfg.GPUTelemetry.MetricsFile
	if path == "" {
		return nil, nil
	}
	fields, warnings, err := gpu.ReadCustom(path)
	for _, text := range warnings {
		w.say.warn(text)
	}
	return fields, err
}

// cadence is how often exporters are asked: one that has not answered when a hundred more were due is given up.
func (w *watched) cadence(interval time.Duration) telemetry.Cadence {
	return telemetry.Cadence{Interval: interval, Timeout: min(max(100*interval, time.Second), 10*time.Second)}
}

// httpServers are the servers that may have a page of metrics beside their API.
func (w *watched) httpServers() (list []string) {
	for _, u := range w.urls {
		if !strings.Contains(u, "://") || strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") {
			list = append(list, u)
		}
	}
	return list
}

func (w *watched) format(name string) bool { return slices.Contains(w.cfg.ServerMetrics.Formats, name) }

// lines is what takes the lines of a file that grows.
func (w *watched) lines(path string) func([]byte) {
	file := artifact.NewLines(path)
	w.files = append(w.files, file)
	return func(line []byte) { file.Write(w.opts.Secrets.JSON(line)) }
}

// watches are the watches that ask somebody.
func (w *watched) watches() (list []*telemetry.Watch) {
	if w.gpu != nil {
		list = append(list, w.gpu.Watch)
	}
	if w.servers != nil {
		list = append(list, w.servers.Watch)
	}
	return list
}

// each does something with all watches at once.
func (w *watched) each(do func(*telemetry.Watch)) {
	var all sync.WaitGroup
	for _, one := range w.watches() {
		all.Go(func() { do(one) })
	}
	all.Wait()
}

// before takes the reading that counters of a measured phase are compared with.
func (w *watched) before(ctx context.Context, p *load.PhaseInfo) {
	if p.Warmup {
		return
	}
	w.each(func(one *telemetry.Watch) { one.Once(ctx, boundaryTime) })
}

// PhaseStart implements component.
func (w *watched) PhaseStart(p *load.PhaseInfo) {
	if w.servers != nil {
		w.servers.Enter(&servermetrics.Phase{Name: p.Name, Warmup: p.Warmup, Index: p.Index, Profiling: p.Profiling})
	}
	for _, one := range w.watches() {
		one.Begin()
	}
}

// PhaseEnd implements component.
func (w *watched) PhaseEnd(f *load.PhaseStats) {
	if f.Info.Warmup {
		return
	}
	for _, one := range w.watches() {
		one.Kick()
	}
}

// finish takes the last readings: of GPUs at once, of servers when they have had time to publish what they count late.
func (w *watched) finish(ctx context.Context) {
	if w.gpu != nil {
		w.gpu.Once(ctx, finalTime)
		w.gpu.Stop()
	}
	if w.servers == nil {
		return
	}
	if flush := w.cfg.Environment.Server.FlushPeriod.Duration(); flush > 0 && w.servers.Watches() && !w.simulated() {
		w.say.log.Info("server metrics: reading on for what servers count late", "seconds", flush.Seconds())
		timer := time.NewTimer(flush)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	w.servers.Once(ctx, w.cfg.Environment.Server.ScrapeTimeout.Duration())
	w.servers.Stop()
}

// simulated tells whether all servers are simulated ones, which count at once.
func (w *watched) simulated() bool {
	for _, u := range w.cfg.Endpoint.URLs {
		if !strings.HasPrefix(u, mockScheme) {
			return false
		}
	}
	return len(w.cfg.ServerMetrics.URLs) == 0
}

// Stop implements component.
func (w *watched) Stop(context.Context) error {
	w.each((*telemetry.Watch).Stop)
	w.client.Close()
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// gpuFigures are those of the profiling phases; nil = nobody looked for GPUs.
func (w *watched) gpuFigures(window metric.Window) *metric.GPUTelemetry {
	if w == nil || w.gpu == nil {
		return nil
	}
	window.To += int64(w.cfg.Environment.GPU.FinalScrapeGraceNs)
	return w.gpu.Result(window)
}

// write leaves the files of what servers told, if they told something.
func (w *watched) write(run *metric.Run) error {
	if w == nil || w.servers == nil || run.End.IsZero() {
		return nil
	}
	h := &servermetrics.Head{
		Version: run.Version, BenchmarkID: run.BenchmarkID, Start: artifact.LocalTime(run.Start), End: artifact.LocalTime(run.End),
		Window: servermetrics.Window{From: run.Start.UnixNano(), To: run.End.UnixNano()}, InputConfig: run.InputConfig,
		Models: w.cfg.Models.Names(),
	}
	if p := w.cfg.Profiling(); p != nil {
		h.Concurrency, h.RequestRate = value(p.Concurrency), value(p.Rate)
	}
	slice := 0.0
	if d := w.cfg.Artifacts.SliceDuration; d != nil {
		slice = float64(*d)
	}
	results := w.servers.Results(h.Window, slice)
	w.servers.Complete(h)
	if len(results.Metrics) == 0 {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		format, kind string
		bytes        func(*servermetrics.Head) ([]byte, error)
	}{
		{"csv", "Server Metrics CSV Export", func(h *servermetrics.Head) ([]byte, error) {
			text, err := results.CSV(h)
			return []byte(w.opts.Secrets.Values(string(text))), err
		}},
		{"json", "Server Metrics JSON Export", func(h *servermetrics.Head) ([]byte, error) {
			text, err := results.JSON(h)
			return w.opts.Secrets.JSON(text), err
		}},
		{"parquet", "Server Metrics Parquet Export", func(h *servermetrics.Head) ([]byte, error) {
			var b bytes.Buffer
			err := w.servers.Parquet(&b, h)
			return b.Bytes(), err
		}},
	} {
		if !w.format(f.format) {
			continue
		}
		path := w.layout.ServerMetrics(f.format)
		data, err := f.bytes(h)
		if err == nil {
			err = artifact.WriteFile(path, data)
		}
		if errs = append(errs, err); err == nil {
			run.Files = append(run.Files, metric.File{Kind: f.kind, Path: path})
		}
	}
	return errors.Join(errs...)
}
