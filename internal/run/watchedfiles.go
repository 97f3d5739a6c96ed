package run

import (
	"bytes"
	"errors"

	"aiperf/internal/artifact"
	"aiperf/internal/metric"
	"aiperf/internal/telemetry/servermetrics"
	"aiperf/internal/telemetry/timeline"
)

// gpuFigures are those of the profiling phases; nil = nobody looked for GPUs.
func (w *watched) gpuFigures(window metric.Window) *metric.GPUTelemetry {
	if w == nil || w.gpu == nil {
		return nil
	}
	window.To += int64(w.cfg.Environment.GPU.FinalScrapeGraceNs)
	return w.gpu.Result(window)
}

// roundTrip is the network's, in ns: the one that the user told, or the mean of the probes; 0 = neither.
func (w *watched) roundTrip() float64 {
	if ms := w.cfg.NetworkLatency.MeanMs; ms != nil {
		return *ms * 1e6
	}
	if w.network == nil {
		return 0
	}
	mean, ok := w.network.Mean()
	if !ok {
		w.say.warn("the network's round trip is not known: no probe reached a server")
		return 0
	}
	return mean
}

// gauges are what servers and GPUs told, second by second.
func (w *watched) gauges() (list []timeline.Gauge) {
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
		for _, tags := range [][2]string{{"nvidia_power_usage", "nvidia_gpu_utilization"}, {"amd_power", "amd_gfx_activity"}} { // a collector has those of one vendor
			add("gpu_power_w", w.gpu.PerSecond(tags[0], false))
			add("gpu_utilization_percent", w.gpu.PerSecond(tags[1], true))
		}
	}
	return list
}

// witness adds what was seen beside the requests to what the verdict rests on, and leaves the timeline.
func (w *watched) witness(client *metric.ClientStats, window metric.Window) error {
	client.MachineUse = w.machine.Use(window)
	gauges := w.gauges()
	for _, g := range gauges {
		if g.Key == servermetrics.Queue.Key {
			r, n := w.seconds.Correlation(g)
			client.QueueCorrelation, client.QueueSeconds = r, int64(n)
		}
	}
	file := artifact.NewLines(w.layout.Timeline())
	for _, line := range w.seconds.Lines(gauges) {
		file.Write(line)
	}
	return file.Close()
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
			err := w.servers.Parquet(&b, h, w.opts.Secrets.Values)
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
