// Package otlp streams the results of finished requests to an OpenTelemetry collector during the run: OTLP over HTTP, with the names of the semantic
// conventions for generative AI (1.41), and aiperf.* for everything else. Nothing waits for the collector: what it does not accept in time is dropped
// and counted.
package otlp

import (
	"context"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options selects what is streamed, and its destination.
type Options struct {
	URL        string // of the collector, with or without /v1/metrics
	Metrics    bool   // stream metrics of finished requests
	Timing     bool   // stream the state of the load
	Traces     bool   // stream a span for every request
	Attributes map[string]string
	Headers    Headers
	Run        Run
	Phases     func() []Load // returns the phases that have begun, the current one last; called while the stream is open

	Flush     time.Duration // interval of deliveries
	Batch     int           // spans per delivery
	Buffered  int           // largest number of waiting spans
	Timeout   time.Duration // of a delivery
	VerifyTLS bool
	Getenv    func(string) string // variables of the OTLP specification besides the headers; nil = none
	Warn      func(string)
}

// Run holds the attributes of every request of the run.
type Run struct {
	Version, BenchmarkID, Provider, Operation string
	Streaming                                 bool
	Servers                                   []string // URLs, by the index in requests
}

// Load is the state of a phase of the load.
type Load struct {
	Phase                                  string
	Sent, Completed, Failed, Cut, InFlight int64
}

// Paths of the two signals below the collector's URL (OTLP 1.9, section "OTLP/HTTP request").
const (
	metricsPath = "/v1/metrics"
	tracesPath  = "/v1/traces"
)

// finalTime is the time limit for the last delivery.
const finalTime = 5 * time.Second

// Stream is an open stream. It observes finished requests.
type Stream struct {
	*instruments
	resource []attribute
	metrics  *sender // nil = no metrics are streamed
	spans    *sender // nil = no spans are streamed
	lost     *losses
	o        Options

	running context.Context // never ends: Close does not cut a delivery of spans short
	closing context.Context // ends when Close begins
	stop    context.CancelFunc
	final   context.Context // context of the last deliveries; set before closing ends
	loops   chan struct{}   // receives one value from each loop that has ended
}

// Open opens a stream without sending anything. Close reports a collector that does not answer.
func Open(ctx context.Context, o Options) (*Stream, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	to, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	s := &Stream{resource: o.resource(), lost: &losses{}, o: o, instruments: newInstruments(&o), loops: make(chan struct{}, 2)}
	s.running = context.WithoutCancel(ctx)
	s.closing, s.stop = context.WithCancel(s.running)
	if o.Metrics || o.Timing {
		s.metrics = newSender(&o, to, metricsPath, o.Headers.Metrics)
		go s.streamMetrics()
	}
	if o.Traces {
		s.spans = newSender(&o, to, tracesPath, o.Headers.Traces)
		go s.streamSpans()
	}
	return s, nil
}

// streamMetrics delivers the metrics at the interval until the stream closes, and once more then. A failed delivery is not repeated: the next one
// contains the same counters with later values.
func (s *Stream) streamMetrics() {
	defer func() { s.loops <- struct{}{} }()
	tick := time.NewTicker(s.o.Flush)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.closing.Err() != nil { // the last delivery has everything
				continue
			}
			if err := s.deliverMetrics(s.closing); s.closing.Err() == nil { // otherwise Close has stopped it
				s.lost.note("metrics", err)
			}
		case <-s.closing.Done():
			s.lost.note("metrics", s.deliverMetrics(s.final))
			return
		}
	}
}

func (s *Stream) deliverMetrics(ctx context.Context) error {
	return s.metrics.deliver(ctx, export(s.resource, s.o.Run.Version, s.collect(wall())))
}

// streamSpans delivers spans when a batch is full or old, until the stream closes, and then the remaining ones.
func (s *Stream) streamSpans() {
	defer func() { s.loops <- struct{}{} }()
	batch, most := [][]byte(nil), max(1, min(s.o.Batch, s.o.Buffered))
	tick := time.NewTicker(s.o.Flush)
	defer tick.Stop()
	for {
		select {
		case span := <-s.queue:
			if batch = append(batch, span); len(batch) < most {
				continue
			}
		case <-tick.C:
		case <-s.closing.Done():
			for s.final.Err() == nil {
				select {
				case span := <-s.queue:
					if batch = append(batch, span); len(batch) < most {
						continue
					}
					s.deliverSpans(s.final, batch)
					batch = nil
					continue
				default:
				}
				break
			}
			s.deliverSpans(s.final, batch)
			return
		}
		s.deliverSpans(s.running, batch)
		batch = nil
	}
}

// deliverSpans delivers a batch, with retries after temporary failures.
func (s *Stream) deliverSpans(ctx context.Context, batch [][]byte) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	err := s.spans.deliverWithRetries(ctx, export(s.resource, s.o.Run.Version, batch), s.o.Flush/4, s.o.Flush, s.o.Timeout)
	if err == nil {
		s.lost.deliver(len(batch))
	}
	s.lost.note("spans", err)
}

// resource returns the attributes of everything that is streamed: those of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME, then those of the run,
// which replace them, sorted by name.
func (o *Options) resource() (list []attribute) {
	all := readHeaders(o.Getenv("OTEL_RESOURCE_ATTRIBUTES"))
	all["service.name"], all["service.version"], all["aiperf.benchmark_id"] = "aiperf", o.Run.Version, o.Run.BenchmarkID
	maps.Copy(all, o.Attributes)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, attribute{key, all[key]})
	}
	return list
}

// target is the address of a collector, and the headers of requests to it.
type target struct {
	base string
	tls  bool
	auth string // value of Authorization, from a user in the URL
}

// with returns headers plus that of the URL, which takes precedence.
func (t target) with(headers map[string]string) map[string]string {
	if t.auth == "" {
		return headers
	}
	all := map[string]string{"Authorization": t.auth}
	for name, value := range headers {
		if !strings.EqualFold(name, "Authorization") {
			all[name] = value
		}
	}
	return all
}

// parse parses a collector's URL. A user in it becomes a header.
func parse(text string) (t target, err error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return t, err
	}
	if u.User != nil {
		t.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo(u.User)))
		u.User = nil
	}
	path := strings.TrimRight(u.Path, "/")
	for _, end := range []string{metricsPath, tracesPath} {
		path = strings.TrimSuffix(path, end)
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path, "", "", ""
	t.base, t.tls = u.String(), u.Scheme == "https"
	return t, nil
}

func userinfo(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}

// Close delivers what is left, within finalTime, and reports losses.
func (s *Stream) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTime)
	defer cancel()
	s.final = ctx
	s.stop()
	for _, one := range []*sender{s.metrics, s.spans} {
		if one == nil {
			continue
		}
		select {
		case <-s.loops:
		case <-ctx.Done(): // a delivery that began before is limited by its own timeout
		}
		defer one.client.CloseIdleConnections()
	}
	s.lost.warnLost(s.begun(), s.o.Warn)
}
