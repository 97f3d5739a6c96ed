package servermetrics

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/exposition"
)

// Options selects the endpoints and the destination of the samples.
type Options struct {
	Client    *telemetry.Client
	Servers   []string // base URLs of the inference servers
	URLs      []string // of endpoints that the user named
	Found     []string // complete URLs of pages found in a cluster
	Cadence   telemetry.Cadence
	Reachable time.Duration // time limit for the first answer of an endpoint
	Line      func([]byte)  // receives lines of the JSONL file, one at a time; nil = no such file
	Warn      func(string)
	Silence   string // setting that disables warnings
	Addresses string // setting with the addresses of metrics pages
	Log       *slog.Logger
}

// Collector reads Prometheus endpoints.
type Collector struct {
	Options
	*telemetry.Watch
	store      *Store
	configured []string
	successful []string
	sources    []*source
	losses     telemetry.Losses
	answered   atomic.Bool // a metrics page has arrived

	mu     sync.Mutex
	phase  *Phase
	warned map[string]bool // warnings that were given
}

// source is one endpoint.
type source struct {
	*telemetry.Exporter
	first string // its first URL
	body  []byte
	page  *exposition.Page // of body
	good  bool             // a metrics page has arrived
	why   string           // why the answer was not one
}

// Open looks for endpoints and takes the first page of each that answers.
func Open(ctx context.Context, o Options) *Collector {
	c := &Collector{Options: o, store: NewStore(o.Line), warned: map[string]bool{}}
	asked := telemetry.URLs(o.Servers, o.URLs)
	for _, page := range o.Found {
		if !slices.Contains(asked, page) {
			asked = append(asked, page)
		}
	}
	answers := telemetry.Probe(ctx, o.Client, asked, o.Reachable)
	c.atRoot(ctx, asked, answers)
	var exporters []*telemetry.Exporter
	var missing, reasons []string
	for i, address := range asked {
		a := answers[i]
		c.configured = append(c.configured, telemetry.Shown(address))
		if a.Err != nil && !a.Busy() {
			missing, reasons = append(missing, telemetry.Shown(address)), append(reasons, a.Err.Message)
			o.Log.Debug("server metrics: no endpoint", "url", telemetry.Shown(address), "error", a.Err.Message)
			continue
		}
		s := &source{first: telemetry.Shown(address)}
		s.Exporter = telemetry.NewExporter(o.Client, address, func(a *telemetry.Answer) { c.take(s, a) })
		c.successful = append(c.successful, s.first)
		c.sources = append(c.sources, s)
		exporters = append(exporters, s.Exporter)
		s.Deliver(ctx, a, o.Reachable)
	}
	named := slices.ContainsFunc(missing, func(u string) bool { return slices.Contains(c.userURLs(), u) })
	switch {
	case len(exporters) > 0 && len(missing) > 0 && named:
		o.Warn("Unreachable endpoints: " + strings.Join(reasons, "; "))
	case len(exporters) == 0 && named:
		o.Warn("server metrics are off: no Prometheus endpoints reachable: " + strings.Join(reasons, "; "))
	case len(exporters) == 0:
		o.Log.Info("server metrics are off: no Prometheus endpoints reachable", "asked", missing)
	}
	c.Watch = telemetry.NewWatch(exporters, o.Cadence)
	return c
}

// userURLs returns the URLs that the user gave.
func (c *Collector) userURLs() (out []string) {
	for _, u := range telemetry.URLs(c.URLs) {
		out = append(out, telemetry.Shown(u))
	}
	return out
}

// atRoot tries the root of servers that have no metrics below the path of their URL.
func (c *Collector) atRoot(ctx context.Context, asked []string, answers []*telemetry.Answer) {
	for i := range min(len(c.Servers), len(asked)) {
		root := telemetry.AtRoot(asked[i])
		if answers[i].Err == nil || root == "" || slices.Contains(asked, root) {
			continue
		}
		if a := telemetry.Probe(ctx, c.Client, []string{root}, c.Reachable)[0]; a.Err == nil {
			asked[i], answers[i] = root, a
		}
	}
}

// Answered reports whether a metrics page has arrived.
func (c *Collector) Answered() bool { return c.answered.Load() }

// Enter sets the current phase.
func (c *Collector) Enter(p *Phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
}

// once reports whether a message is new.
func (c *Collector) once(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.warned[what] {
		return false
	}
	c.warned[what] = true
	return true
}

// take processes a page.
func (c *Collector) take(s *source, a *telemetry.Answer) {
	if a.Err != nil {
		if s.why != "" && !s.good { // the second address, after the first had no metrics page
			c.retire(s, a.Err.Message+". "+trtHint)
			return
		}
		c.losses.Add(a.Err, 1)
		if a.Pause > 0 && c.once("pause "+s.first) {
			c.Log.Info("server metrics: " + telemetry.PauseText(s.Address(), a.Pause))
		}
		if a.TooLarge {
			c.retire(s, fmt.Sprintf("its page is larger than %d MiB", telemetry.MaxBody>>20))
		}
		return
	}
	same := s.page != nil && bytes.Equal(a.Body, s.body)
	if !same {
		s.body, s.page = a.Body, nil
		if !strings.HasPrefix(a.ContentType, "application/json") {
			s.page = exposition.Parse(a.Body)
		}
	}
	if s.page == nil || !s.page.IsText() {
		c.unknownPage(s, strings.HasPrefix(a.ContentType, "text/html"))
		return
	}
	s.good = true
	c.answered.Store(true)
	if p := s.page; p.BadLines > 0 {
		c.losses.Add(telemetry.Fault("ParseError", s.Address(), "lines that are not metrics"), int64(p.BadLines))
		if c.once("bad " + s.first) {
			c.Warn(fmt.Sprintf("server metrics: %s: line %d is not a metric: expected %s; such lines are skipped (%d on this page)", telemetry.Shown(s.Address()), p.First.Line, p.First.Why, p.BadLines))
		}
	}
	c.mu.Lock()
	phase := c.phase
	c.mu.Unlock()
	c.warn(s, c.store.Add(telemetry.Shown(s.Address()), s.page, Fetch{a.Sent, a.FirstByte, a.Done, phase}, same))
}

// warn warns once about each kind of ignored data in a page.
func (c *Collector) warn(s *source, told PageFindings) {
	for _, name := range told.Dropped {
		c.losses.Add(telemetry.Fault("NotFinite", s.Address(), name+" had a value that is not a finite number"), 1)
		if c.once("finite " + name) {
			c.Warn("server metrics: " + name + " has values that are not finite (NaN, Inf); they are skipped")
		}
	}
	for _, name := range told.Skipped {
		if c.once("type " + name) {
			c.Log.Info("server metrics: a metric family of an unsupported type is skipped", "metric", name)
		}
	}
	for _, name := range told.Conflict {
		c.losses.Add(telemetry.Fault("TypeChanged", s.Address(), name+" changed its type"), 1)
		if c.once("kind " + name) {
			c.Warn("server metrics: " + name + " changed its type, or endpoints report different types; later values are skipped")
		}
	}
	if told.Full && c.once("full") {
		c.Warn(fmt.Sprintf("server metrics: more than %d label sets; the others are skipped", maxSeries))
	}
}

// unknownPage handles an answer that is not a metrics page. After an answer in JSON it first tries the other address of TensorRT-LLM; then it gives
// the endpoint up.
func (c *Collector) unknownPage(s *source, html bool) {
	why := "the answer is JSON"
	switch {
	case html:
		why = "the answer is an HTML page"
	case s.page != nil:
		why = fmt.Sprintf("line %d is not a metric: expected %s", s.page.First.Line, s.page.First.Why)
	}
	if s.good {
		c.losses.Add(telemetry.Fault("ParseError", s.Address(), why), 1)
		return
	}
	if other := telemetry.TensorRT(s.first); s.page == nil && s.why == "" && other != "" {
		s.why = why
		c.Log.Info("server metrics: not a metrics page; trying the address of TensorRT-LLM", "url", s.first, "why", why, "address", other)
		s.MoveTo(telemetry.TensorRT(s.Address()))
		return
	}
	if s.why != "" || s.page == nil {
		c.retire(s, why+". "+trtHint)
		return
	}
	c.retire(s, why+". If the Prometheus metrics are at another address, give it with "+c.Addresses)
}

// trtHint is advice for the operator of a TensorRT-LLM server, whose answer is JSON until metrics are turned on.
const trtHint = "For TensorRT-LLM, set return_perf_metrics: true in the server"

// retire stops reading an endpoint.
func (c *Collector) retire(s *source, why string) {
	text := "server metrics: " + s.first + " is no longer read: "
	if s.why != "" {
		text += s.why + "; at " + telemetry.Shown(s.Address()) + ": "
	}
	c.losses.Add(telemetry.Fault("GivenUp", s.first, why), 1)
	c.Warn(text + why + ". " + c.Silence)
	s.Retire()
}

// Results reduces all readings. The watch must have stopped.
func (c *Collector) Results(w Window, slice float64) *Results {
	r := c.store.Results(w, slice)
	for _, name := range r.Resets {
		c.Warn("server metrics: " + name + " was reset during the run (did the server restart?); the values before and after are added up")
	}
	return r
}

// Phase reduces the pages of one phase, as Store.Phase does.
func (c *Collector) Phase(w Window, next int64, slice float64) *Results {
	return c.store.Phase(w, next, slice)
}

// Complete fills in the information about the endpoints.
func (c *Collector) Complete(h *Head) {
	h.Configured, h.Successful = c.configured, c.successful
	for _, s := range c.sources {
		c.losses.Add(s.Skipped())
		c.losses.Add(s.Paused())
	}
	if text := c.losses.Text(); text != "" {
		c.Warn("server metrics are incomplete: " + text)
	}
	for _, l := range c.losses.List() {
		h.Lost = append(h.Lost, LostReading{l.Error.Type, l.Error.Message, l.Count})
	}
}
