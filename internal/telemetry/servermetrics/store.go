package servermetrics

import (
	"math"
	"slices"
	"sync"

	"aiperf/internal/exposition"
	"aiperf/internal/stats"
)

// Phase is the phase of the run in which a page was read.
type Phase struct {
	Name             string
	Warmup           bool
	Index, Profiling int // over all phases; over profiling phases, -1 in a warm-up
}

// Fetch is one page and the instants of its way, wall time in ns.
type Fetch struct {
	Sent, FirstByte, Done int64
	Phase                 *Phase // nil = before the first
}

// Store keeps what endpoints told. The methods may be called from any goroutine.
type Store struct {
	mu        sync.Mutex
	metrics   map[string]*meta
	endpoints []*endpoint
	lines     func(line []byte) // takes lines of the JSONL file; nil = there is none
	size      int               // label sets
}

// mostSeries bounds the label sets that are kept.
const mostSeries = 100_000

// meta is what is known of a metric whichever endpoint tells it.
type meta struct {
	name, help string
	kind       Type
	info       bool
}

// endpoint is what one address told.
type endpoint struct {
	url     string // as files show it
	at      []int64
	took    []int64 // by a page to come, from the request to its end, ns
	updates []int64
	series  map[string]*series // by metric and labels
}

// series is one label set of one endpoint, a value a page; NaN = the page did not tell it.
type series struct {
	*meta
	labels []exposition.Label
	value  stats.Column // of gauges and counters
	sum    stats.Column // of histograms
	count  stats.Column
	counts []stats.Column // by bucket
	les    []bucket       // bounds of the buckets
	odd    bool           // buckets changed their bounds while the run went on
}

// NewStore makes an empty one; lines takes those of the JSONL file, nil = nobody does.
func NewStore(lines func(line []byte)) *Store {
	return &Store{metrics: map[string]*meta{}, lines: lines}
}

// Told is what is to be said of a page.
type Told struct {
	Samples  bool     // the page had something
	Dropped  []string // metrics with values that are no finite numbers
	Skipped  []string // families of types that are left out
	Conflict []string // metrics that changed their type
	Full     bool     // there are more label sets than are kept
}

// Add takes a page of an endpoint in. same says that it is the one before once more.
func (s *Store) Add(url string, page *exposition.Page, f Fetch, same bool) Told {
	snap := read(page)
	s.mu.Lock()
	defer s.mu.Unlock()
	told := Told{Dropped: snap.dropped, Skipped: snap.skipped, Samples: len(snap.metrics) > 0}
	if !told.Samples {
		return told
	}
	e := s.endpoint(url)
	if n := len(e.at); n > 0 && f.FirstByte <= e.at[n-1] { // overtaken by a later one
		return told
	}
	e.at = append(e.at, f.FirstByte)
	e.took = append(e.took, f.Done-f.Sent)
	if !same {
		e.updates = append(e.updates, f.FirstByte)
	}
	for _, m := range snap.metrics {
		known := s.metrics[m.name]
		if known == nil {
			known = &meta{name: m.name, help: m.help, kind: m.kind, info: m.info}
			s.metrics[m.name] = known
		}
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

// put keeps one label set of the newest page; false = there is no room for another one.
func (s *Store) put(e *endpoint, m *meta, one *snapSample) bool {
	key := m.name + "\x00" + labelKey(one.labels)
	t := e.series[key]
	if t == nil {
		if s.size >= mostSeries {
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
		t.odd = true
		return true
	}
	for i, b := range one.buckets {
		t.counts[i].Pad(page, math.NaN())
		t.counts[i].Append(b.count)
	}
	return true
}
