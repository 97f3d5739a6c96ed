package gpu

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/exposition"
)

// Options selects the exporters of GPU figures and the destination of the samples.
type Options struct {
	Client    *telemetry.Client
	URLs      []string // of exporters that the user named, complete
	Defaults  []string // of exporters that are also tried
	Pods      []string // namespace/name; where an exporter says which pod uses a GPU, only those of these pods count. Empty: all GPUs count
	More      []Field  // additional figures
	Cadence   telemetry.Cadence
	Reachable time.Duration // time limit for the first answer of an exporter
	Line      func([]byte)  // receives lines of the file of samples, one at a time
	Warn      func(string)
	Silence   string // setting that disables warnings
	Log       *slog.Logger
}

// Collector reads exporters of GPU figures.
type Collector struct {
	Options
	*telemetry.Watch
	fields     *Fields
	series     *Series
	configured []string
	successful []string
	sources    []*source
	losses     telemetry.Losses
	local      local       // nil = exporters are read
	stopping   atomic.Bool // the local collector is being stopped

	mu sync.Mutex // guards the file of samples
}

// local is a program that reads the GPUs of this machine.
type local interface {
	now(ctx context.Context) // takes one more reading, unless the program reads continuously
	stop()
}

// source is one exporter.
type source struct {
	*telemetry.Exporter
	displayURL string // its URL for files
	body       []byte // the previous page
	warned     bool
	ours       map[int]bool // GPUs by index that a pod of the server has used
}

// Open looks for exporters and takes the first page of each that answers. Without any the collector does nothing.
func Open(ctx context.Context, o Options) *Collector {
	c := &Collector{Options: o, fields: NewFields("nvidia", o.More)}
	c.series = NewSeries(c.fields)
	asked := telemetry.URLs(o.Defaults, o.URLs)
	answers := telemetry.Probe(ctx, o.Client, asked, o.Reachable)
	c.configured = displayURLs(o.URLs)
	var exporters []*telemetry.Exporter
	for i, address := range asked {
		a := answers[i]
		named := slices.Contains(o.URLs, address)
		switch {
		case a.Err != nil && named:
			o.Warn(fmt.Sprintf("GPU telemetry: %s is not reachable (%s)", telemetry.Shown(address), a.Err.Message))
			continue
		case a.Err != nil:
			o.Log.Debug("GPU telemetry: no exporter", "url", telemetry.Shown(address), "error", a.Err.Message)
			continue
		case !named:
			c.configured = append(c.configured, telemetry.Shown(address))
		}
		s := &source{displayURL: telemetry.Shown(address)}
		s.Exporter = telemetry.NewExporter(o.Client, address, func(a *telemetry.Answer) { c.take(s, a) })
		c.successful = append(c.successful, s.displayURL)
		c.sources = append(c.sources, s)
		exporters = append(exporters, s.Exporter)
		c.take(s, a)
	}
	if len(exporters) == 0 {
		o.Log.Info("GPU telemetry is off: no telemetry sources reachable")
	} else {
		o.Log.Info("GPU telemetry", "sources", c.successful)
	}
	c.Watch = telemetry.NewWatch(exporters, o.Cadence)
	return c
}

func displayURLs(addresses []string) (out []string) {
	for _, a := range addresses {
		out = append(out, telemetry.Shown(a))
	}
	return out
}

// take makes samples of a page. A page equal to the previous one adds none: exporters read the GPUs less often than they are scraped.
func (c *Collector) take(s *source, a *telemetry.Answer) {
	if a.Err != nil {
		c.losses.Add(a.Err, 1)
		if a.TooLarge {
			c.Warn("GPU telemetry: " + a.Err.Message + "; aiperf stops reading it. " + c.Silence)
			s.Retire()
		}
		return
	}
	if bytes.Equal(a.Body, s.body) {
		return
	}
	s.body = a.Body
	page := exposition.Parse(a.Body)
	if page.BadLines > 0 {
		c.bad(s, page)
	}
	if !page.IsText() {
		return
	}
	for _, one := range s.counted(c.fields.Page(page, time.Now().UnixNano(), s.displayURL), c.Pods) {
		c.add(&one)
	}
}

// counted returns the samples of GPUs that the pods use, or have used: a pod may be replaced by another one. Without pods, and if the exporter does not say
// which pod uses a GPU, it returns all.
func (s *source) counted(all []Sample, pods []string) []Sample {
	if len(pods) == 0 || !slices.ContainsFunc(all, func(one Sample) bool { return one.PodName != "" }) && s.ours == nil {
		return all
	}
	if s.ours == nil {
		s.ours = map[int]bool{}
	}
	var out []Sample
	for _, one := range all {
		if s.ours[one.Index] = s.ours[one.Index] || slices.Contains(pods, one.Namespace+"/"+one.PodName); s.ours[one.Index] {
			out = append(out, one)
		}
	}
	return out
}

// bad warns once about an exporter whose page has invalid lines, and counts them.
func (c *Collector) bad(s *source, page *exposition.Page) {
	text := fmt.Sprintf("line %d is not a metric: expected %s", page.First.Line, page.First.Why)
	if !page.IsText() {
		text = "not a metrics page: " + text
	}
	c.losses.Add(telemetry.Fault("ParseError", s.displayURL, text), 1)
	if !s.warned {
		s.warned = true
		c.Warn("GPU telemetry: " + s.displayURL + ": " + text)
	}
}

func (c *Collector) add(one *Sample) {
	c.series.Add(one)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Line(c.fields.AppendLine(nil, one, one.Source))
}

// Once reads every source once and waits for the answers, at most for most.
func (c *Collector) Once(ctx context.Context, most time.Duration) {
	if c.local == nil {
		c.Watch.Once(ctx, most)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	c.local.now(ctx)
}

// Stop ends all readings and waits for them.
func (c *Collector) Stop() {
	c.Watch.Stop()
	if c.local != nil && !c.stopping.Swap(true) {
		c.local.stop()
	}
}

// Within returns the figures of a window, without the losses.
func (c *Collector) Within(w metric.Window) *metric.GPUTelemetry {
	t := &metric.GPUTelemetry{Configured: c.configured, Successful: c.successful, Window: w}
	for _, u := range c.configured {
		if gpus := c.series.Figures(u, w); len(gpus) > 0 {
			t.Endpoints = append(t.Endpoints, metric.GPUEndpoint{Name: telemetry.Name(u), GPUs: gpus})
		}
	}
	return t
}

// Result returns the figures of a window with the losses. Readings up to grace (ns) after its end count as well. The watch must have stopped.
func (c *Collector) Result(w metric.Window, grace int64) *metric.GPUTelemetry {
	t := c.Within(metric.Window{From: w.From, To: w.To + grace})
	var text string
	if t.Energy, text = c.series.Energy(w, grace); text != "" {
		c.Warn("GPU telemetry: " + text)
	}
	for _, s := range c.sources {
		c.losses.Add(s.Skipped())
		c.losses.Add(s.Paused())
	}
	if text := c.losses.Text(); text != "" {
		c.Warn("GPU telemetry is incomplete: " + text)
	}
	for _, l := range c.losses.List() {
		t.Errors = append(t.Errors, metric.ErrorGroup{Error: l.Error, Count: l.Count})
	}
	return t
}
