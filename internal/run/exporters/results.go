package exporters

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/results"
	"aiperf/internal/telemetry/servermetrics"
	"aiperf/internal/telemetry/timeline"
)

// GPUFigures returns the GPU statistics of the profiling phases; nil = GPUs were not collected.
func (w *Collection) GPUFigures(window metric.Window) *metric.GPUTelemetry {
	if w == nil || w.gpu == nil {
		return nil
	}
	return w.gpu.Result(window, w.lastReading())
}

// lastReading returns how long after the end of a phase the last reading of GPUs may come, in ns.
func (w *Collection) lastReading() int64 { return int64(w.Config.Environment.GPU.FinalScrapeGraceNs) }

// RoundTrip returns the network round trip in ns: the one that the user gave, or the mean of the probes; 0 = neither.
func (w *Collection) RoundTrip() float64 {
	if ms := w.Config.NetworkLatency.MeanMs; ms != nil {
		return *ms * 1e6
	}
	if w.network == nil {
		return 0
	}
	mean, ok := w.network.Mean()
	if !ok {
		w.Say.Warn("the network round trip is unknown: no probe reached a server")
		return 0
	}
	return mean
}

// gauges returns the readings of servers and GPUs per second.
func (w *Collection) gauges() (list []timeline.Gauge) {
	add := func(key string, values map[int64]float64) {
		if len(values) > 0 {
			list = append(list, timeline.Gauge{Key: key, Values: values})
		}
	}
	if w.servers != nil {
		for _, p := range servermetrics.Presets {
			add(p.Key, w.servers.PerSecond(p))
		}
	}
	if w.gpu != nil {
		for _, tags := range [][2]string{{"nvidia_power_usage", "nvidia_gpu_utilization"}, {"amd_power", "amd_gfx_activity"}} { // one vendor per collector
			add("gpu_power_w", w.gpu.PerSecond(tags[0], false))
			add("gpu_utilization_percent", w.gpu.PerSecond(tags[1], true))
		}
	}
	return list
}

// MachineUse returns the load of this machine from all programs.
func (w *Collection) MachineUse(window metric.Window) metric.MachineUse { return w.machine.Use(window) }

// AddObservations adds the observations of the servers to the basis of the verdict, and writes the timeline.
func (w *Collection) AddObservations(client *metric.ClientStats, window metric.Window) error {
	gauges := w.gauges()
	for _, g := range gauges {
		if g.Key == servermetrics.Queue.Key {
			r, n := w.Seconds.Correlation(g)
			client.QueueCorrelation, client.QueueSeconds = r, int64(n)
		}
	}
	file := artifact.NewLines(w.Layout.Timeline())
	for _, line := range w.Seconds.Lines(gauges, client.ServerPods.BySecond()) {
		file.Write(line)
	}
	return file.Close()
}

// AddPhaseFiles adds the readings of each phase to the phases of a run with several. Servers count late and GPUs are read at intervals, so a phase lasts
// until the next one starts.
func (w *Collection) AddPhaseFiles(h *servermetrics.Head, phases []results.Phase) {
	if w == nil || len(phases) < 2 {
		return
	}
	for i := range phases {
		p := &phases[i]
		next := int64(0)
		if i+1 < len(phases) {
			next = phases[i+1].Window.From
		}
		add := func(name string, data json.RawMessage) {
			if data != nil {
				p.Watched = append(p.Watched, artifact.PhaseFile{Name: name, Data: data})
			}
		}
		add(artifact.PhaseGPUTelemetry, w.phaseGPUs(p.Window, next))
		add(artifact.PhaseServerMetrics, w.phaseServers(h, p, next))
	}
}

// phaseGPUs returns the GPU statistics of a phase; nil = no reading.
func (w *Collection) phaseGPUs(window metric.Window, next int64) json.RawMessage {
	if w.gpu == nil {
		return nil
	}
	window.To += w.lastReading()
	if next != 0 {
		window.To = min(window.To, max(next, window.From))
	}
	return artifact.GPUData(w.gpu.Within(window))
}

// phaseServers returns the server statistics of a phase; nil = no reading.
func (w *Collection) phaseServers(h *servermetrics.Head, p *results.Phase, next int64) json.RawMessage {
	if h == nil {
		return nil
	}
	r := w.servers.Phase(servermetrics.Window(p.Window), next, w.slice())
	if len(r.Endpoints) == 0 {
		return nil
	}
	return r.PhaseJSON(h, &servermetrics.Phase{Name: p.Name, Warmup: p.Warmup, Index: p.Index, Profiling: p.Profiling})
}

// slice returns the length of a time slice in seconds; 0 = no slices.
func (w *Collection) slice() float64 {
	if d := w.Config.Artifacts.SliceDuration; d != nil {
		return float64(*d)
	}
	return 0
}

// warmup adds the statistics of the warm-up phases to the head of the files, if there are such phases.
func (w *Collection) warmup(h *servermetrics.Head, phases []results.Phase) {
	var all metric.Window
	next := int64(0)
	for _, p := range phases {
		if !p.Warmup {
			next = p.Window.From
			break
		}
		if all.From == 0 {
			all.From = p.Window.From
		}
		all.To = p.Window.To
	}
	if all.To > all.From {
		h.WarmupWindow = servermetrics.Window(all)
		h.Warmup = w.servers.Phase(h.WarmupWindow, next, w.slice())
	}
}

// FileHead returns the information about the servers and the run at the beginning of the files; nil = servers are not collected.
func (w *Collection) FileHead(run *metric.Run) *servermetrics.Head {
	if w == nil || w.servers == nil {
		return nil
	}
	h := &servermetrics.Head{
		Version: run.Version, BenchmarkID: run.BenchmarkID, Start: artifact.LocalTime(run.Start), End: artifact.LocalTime(run.End),
		InputConfig: run.InputConfig, Models: w.Config.Models.Names(),
	}
	if !run.End.IsZero() {
		h.Window = servermetrics.Window{From: run.Start.UnixNano(), To: run.End.UnixNano()}
	}
	if p := w.Config.Profiling(); p != nil {
		h.Concurrency, h.RequestRate = config.Value(p.Concurrency), config.Value(p.Rate)
	}
	w.servers.Complete(h)
	return h
}

// Write writes the files of server metrics, if there are any readings.
func (w *Collection) Write(run *metric.Run, h *servermetrics.Head, phases []results.Phase) error {
	if h == nil || run.End.IsZero() {
		return nil
	}
	results := w.servers.Results(h.Window, w.slice())
	if len(results.Metrics) == 0 {
		return nil
	}
	w.warmup(h, phases)
	var errs []error
	for _, f := range []struct {
		format, kind string
		bytes        func(*servermetrics.Head) ([]byte, error)
	}{
		{"csv", "Server Metrics CSV Export", func(h *servermetrics.Head) ([]byte, error) {
			text, err := results.CSV(h)
			return []byte(w.Secrets.Values(string(text))), err
		}},
		{"json", "Server Metrics JSON Export", func(h *servermetrics.Head) ([]byte, error) {
			text, err := results.JSON(h)
			return w.Secrets.JSON(text), err
		}},
		{"parquet", "Server Metrics Parquet Export", func(h *servermetrics.Head) ([]byte, error) {
			var b bytes.Buffer
			err := w.servers.Parquet(&b, h, w.Secrets.Values)
			return b.Bytes(), err
		}},
	} {
		if !w.format(f.format) {
			continue
		}
		path := w.Layout.ServerMetrics(f.format)
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

// otherTraffic is the largest relative difference between the prompt tokens of the server and of the run; above it, other clients used the server.
const otherTraffic = 0.25

// CountsCache reports whether the servers count lookups in their prefix caches.
func (w *Collection) CountsCache() bool {
	return w != nil && w.servers != nil && w.servers.CountsCache()
}

// CacheCounters adds the hit share of the server's counters to u, if they count about as many prompt tokens as the run sent. The share replaces that
// of usage where the answers have none; otherwise both are kept. Where workers transfer prompts to each other, usage counts these as cached, so the
// expected maximum becomes 100 %.
func (w *Collection) CacheCounters(u *metric.CacheUse, tokens float64, window metric.Window) {
	if w.servers == nil {
		return
	}
	l, ok := w.servers.CacheLookups(servermetrics.Window{From: window.From, To: window.To})
	if l.Transferred > 0 {
		u.CacheExpectedMax = 100
	}
	if !ok || l.Asked <= 0 || math.Abs(l.Asked/tokens-1) > otherTraffic {
		return
	}
	share := 100 * min(1, l.Found/l.Asked)
	if u.CacheSource == "" {
		u.CacheSource, u.CacheReported = l.Name, share
	} else {
		u.CacheCounter, u.CacheCounted = l.Name, share
	}
}
