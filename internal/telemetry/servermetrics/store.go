package servermetrics

import (
	"math"
	"slices"
	"sync"

	"aiperf/internal/measure/stats"
	"aiperf/internal/telemetry/exposition"
)

// Phase is the phase of the run in which a page was read.
type Phase struct {
	Name             string
	Warmup           bool
	Index, Profiling int // among all phases; among profiling phases, -1 in a warm-up
}

// Fetch holds the instants of reading one page, wall time in ns.
type Fetch struct {
	Sent, FirstByte, Done int64
	Phase                 *Phase // nil = before the first
}

// Store stores the readings of endpoints. The methods may be called from any goroutine.
type Store struct {
	mu        sync.Mutex
	metrics   map[string]*meta
	dropped   map[string]bool // metrics that had values that are not finite
	endpoints []*endpoint
	lines     func(line []byte) // receives lines of the JSONL file; nil = no such file
	size      int               // number of label sets
}

// maxSeries limits the number of stored label sets.
const maxSeries = 100_000

// meta describes a metric, independent of the endpoint.
type meta struct {
	name, help string
	kind       Type
	info       bool
	dropped    bool // a page had values that are not finite, so a missing value does not mean that the series did not exist
}

// endpoint holds the readings of one address.
type endpoint struct {
	url       string // URL for files
	at        []int64
	durations []int64 // by page: time from the request to its end, ns
	updates   []int64
	series    map[string]*series // by metric and labels
}

// series is one label set of one endpoint, with one value per page; NaN = missing on the page.
type series struct {
	*meta
	labels        []exposition.Label
	value         stats.Column // of gauges and counters
	sum           stats.Column // of histograms
	count         stats.Column
	counts        []stats.Column // by bucket
	les           []bucket       // bounds of the buckets
	changedBounds bool           // the bounds of the buckets changed during the run
}

// NewStore returns an empty store; lines receives the lines of the JSONL file, nil = not needed.
func NewStore(lines func(line []byte)) *Store {
	return &Store{metrics: map[string]*meta{}, dropped: map[string]bool{}, lines: lines}
}

// PageFindings holds the remarks about a page.
type PageFindings struct {
	Samples  bool     // the page had samples
	Dropped  []string // metrics with values that are not finite
	Skipped  []string // families of unsupported types
	Conflict []string // metrics whose type changed
	Full     bool     // there are too many label sets
}

// Add adds a page of an endpoint. same = it equals the previous one.
func (s *Store) Add(url string, page *exposition.Page, f Fetch, same bool) PageFindings {
	snap := read(page)
	s.mu.Lock()
	defer s.mu.Unlock()
	told := PageFindings{Dropped: snap.dropped, Skipped: snap.skipped, Samples: len(snap.metrics) > 0}
	if !told.Samples {
		return told
	}
	e := s.endpoint(url)
	if n := len(e.at); n > 0 && f.FirstByte <= e.at[n-1] { // a later page has arrived before it
		return told
	}
	for _, name := range snap.dropped {
		s.dropped[name] = true
	}
	e.at = append(e.at, f.FirstByte)
	e.durations = append(e.durations, f.Done-f.Sent)
	if !same {
		e.updates = append(e.updates, f.FirstByte)
	}
	for _, m := range snap.metrics {
		known := s.metrics[m.name]
		if known == nil {
			known = &meta{name: m.name, help: m.help, kind: m.kind, info: m.info}
			s.metrics[m.name] = known
		}
		known.dropped = s.dropped[m.name]
		if known.kind != m.kind {
			told.Conflict = append(told.Conflict, m.name)
			continue
		}
		if known.help == "" {
			known.help = m.help
		}
		for _, one := range m.samples {
			if !s.put(e, known, one) {
				told.Full = true
			}
		}
	}
	if s.lines != nil && !same {
		s.lines(appendLine(nil, url, snap, f))
	}
	return told
}

func (s *Store) endpoint(url string) *endpoint {
	i := slices.IndexFunc(s.endpoints, func(e *endpoint) bool { return e.url == url })
	if i < 0 {
		i = len(s.endpoints)
		s.endpoints = append(s.endpoints, &endpoint{url: url, series: map[string]*series{}})
	}
	return s.endpoints[i]
}

// put stores one label set of the newest page; false = there is no room for another one.
func (s *Store) put(e *endpoint, m *meta, one *snapSample) bool {
	key := m.name + "\x00" + labelKey(one.labels)
	t := e.series[key]
	if t == nil {
		if s.size >= maxSeries {
			return false
		}
		s.size++
		t = &series{meta: m, labels: one.labels, les: slices.Clone(one.buckets), counts: make([]stats.Column, len(one.buckets))}
		e.series[key] = t
	}
	page := len(e.at) - 1
	if m.kind != exposition.Histogram {
		t.value.Pad(page, math.NaN())
		t.value.Append(one.value)
		return true
	}
	t.sum.Pad(page, math.NaN())
	t.sum.Append(one.sum)
	t.count.Pad(page, math.NaN())
	t.count.Append(one.count)
	if len(one.buckets) != len(t.les) || slices.ContainsFunc(one.buckets, func(b bucket) bool {
		return !slices.ContainsFunc(t.les, func(have bucket) bool { return have.bound == b.bound })
	}) {
		t.changedBounds = true
		return true
	}
	for i, b := range one.buckets {
		t.counts[i].Pad(page, math.NaN())
		t.counts[i].Append(b.count)
	}
	return true
}
