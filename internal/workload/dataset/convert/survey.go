// Package convert describes the content of a data file and writes it in another format. Both read the file row by row.
package convert

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/stats"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/extsort"
	"aiperf/internal/workload/dataset/trace"
)

// Survey describes the content of a file.
type Survey struct {
	Path     string         `json:"path"`
	Format   string         `json:"format"`
	Rows     int            `json:"rows"`
	Sessions int            `json:"sessions"`
	Turns    int            `json:"turns"`
	Input    *Tokens        `json:"input_tokens"`  // per turn: as stated by the row, else counted; nil = no turn has a length or text
	Output   *Tokens        `json:"output_tokens"` // requested output lengths; nil = none
	Media    map[string]int `json:"media"`         // images, audio and video by location: images_inline, images_address, …
	Prefixes *Prefixes      `json:"prefixes"`      // nil = no row has hash ids
	Arrivals *Arrivals      `json:"arrivals"`      // nil = no row has a timestamp
}

// Tokens describes lengths. Quantiles interpolate between two lengths. They are exact up to 4096 lengths and within 0.05 % above.
type Tokens struct {
	Count   int64    `json:"count"`
	Mean    float64  `json:"mean"`
	Min     int64    `json:"min"`
	P50     float64  `json:"p50"`
	P90     float64  `json:"p90"`
	P99     float64  `json:"p99"`
	Max     int64    `json:"max"`
	Buckets []Bucket `json:"buckets"` // bounds are powers of two
}

// Bucket counts lengths from From to To, both included.
type Bucket struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Count int64 `json:"count"`
}

// Prefixes describes the prefixes that rows share.
type Prefixes struct {
	Unique     int     `json:"unique_prefixes"`
	Groups     int     `json:"num_prefix_groups"`
	HitRate    float64 `json:"cache_hit_rate"`
	ReuseRatio float64 `json:"prefix_reuse_ratio"`
}

// Arrivals counts rows over time.
type Arrivals struct {
	First    float64 `json:"first_ms"`
	Last     float64 `json:"last_ms"`
	BucketMs float64 `json:"bucket_ms"`
	Counts   []int64 `json:"counts"` // counts from First on
}

// Collector collects the statistics of rows. Its memory does not grow with the file: data per session and hash id go to a temporary file.
type Collector struct {
	Count     func(text string) int // counts the tokens of a text
	Tick      func()
	BlockSize string // name of the setting of the block size, for Mismatch

	s             Survey
	seeds         [2]maphash.Seed
	sessions      extsort.Table
	input, output tokens
	times         times
	prefixes      *trace.Tree
	unfit         dataset.Faults // rows whose hash ids stand for more tokens than the input has
}

// NewCollector returns a collector for the rows of a file.
func NewCollector(path string, count func(string) int, tick func()) *Collector {
	return &Collector{
		Count: count, Tick: tick, s: Survey{Path: path, Media: map[string]int{}}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		sessions: extsort.Table{Name: path, Add: func(sum, _ uint64) uint64 { return sum }}, prefixes: trace.NewTree(path),
	}
}

// Add adds a row.
func (c *Collector) Add(e custom.Entry) error {
	c.Tick()
	c.s.Rows++
	if e.Session == "" {
		c.s.Sessions++
	} else if err := c.sessions.Put(extsort.Key{maphash.String(c.seeds[0], e.Session), maphash.String(c.seeds[1], e.Session)}, 0); err != nil {
		return err
	}
	if e.Record != nil {
		if e.Agents == nil {
			trace.CheckBlocks(e.Record, cmp.Or(e.Block, custom.MooncakeBlock), c.BlockSize, &c.unfit)
		}
		return c.record(e.Record)
	}
	for i := range e.Turns {
		c.turn(&e.Turns[i])
	}
	return nil
}

// record adds a row of traffic.
func (c *Collector) record(r *trace.Record) error {
	c.s.Turns++
	switch {
	case r.InputLength > 0:
		c.input.add(int64(r.InputLength))
	case r.Text != nil:
		c.input.add(int64(c.Count(*r.Text)))
	}
	if r.OutputLength != nil {
		c.output.add(int64(*r.OutputLength))
	}
	if r.Timestamp != nil {
		c.times.add(*r.Timestamp)
	}
	return c.prefixes.Add(r.HashIDs)
}

// turn adds a turn.
func (c *Collector) turn(t *conversation.Turn) {
	c.s.Turns++
	if text := strings.Join(t.Contents(), " "); text != "" {
		c.input.add(int64(c.Count(text)))
	}
	if t.MaxTokens != nil {
		c.output.add(int64(*t.MaxTokens))
	}
	if t.Timestamp != nil {
		c.times.add(*t.Timestamp)
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		kind := map[conversation.Kind]string{conversation.Image: "images", conversation.Audio: "audio", conversation.Video: "video"}[p.Kind]
		switch {
		case kind == "":
		case p.Blob == nil:
			c.s.Media[kind+"_by_id"]++
		case p.Blob.Inline():
			c.s.Media[kind+"_inline"]++
		default:
			c.s.Media[kind+"_address"]++
		}
	}
}

// Mismatch says how many rows a run refuses because of their hash ids, and quotes the first; "" = none.
func (c *Collector) Mismatch() string {
	n := c.unfit.Count()
	if n == 0 {
		return ""
	}
	first, _, _ := strings.Cut(c.unfit.Err().Error(), "\n")
	return fmt.Sprintf("profile refuses %d of %s because of their hash ids. The first: %s", n, terminal.Plural(c.s.Rows, "row"), first)
}

// Result returns the survey. No more rows may be added after it.
func (c *Collector) Result(format string) (*Survey, error) {
	s := c.s
	s.Format = format
	if err := c.sessions.Each(func(extsort.Key, uint64) error { s.Sessions++; return nil }); err != nil {
		return nil, err
	}
	s.Input, s.Output, s.Arrivals = c.input.result(), c.output.result(), c.times.result()
	if c.prefixes.Rows() > 0 {
		shared, err := c.prefixes.Sharing(nil)
		if err != nil {
			return nil, err
		}
		s.Prefixes = &Prefixes{shared.Unique, shared.Groups, shared.HitRate, shared.Reuse}
	}
	return &s, nil
}

// tokens counts lengths in constant memory.
type tokens struct {
	lengths stats.Sketch
	buckets [64]int64
}

func (t *tokens) add(n int64) {
	n = max(0, n)
	t.lengths.Add(float64(n))
	t.buckets[bits.Len64(uint64(n))]++
}

func (t *tokens) result() *Tokens {
	l := &t.lengths
	if l.Count == 0 {
		return nil
	}
	p := l.Percentiles(50, 90, 99)
	r := &Tokens{Count: l.Count, Mean: l.Mean(), Min: int64(l.Min), P50: p[0], P90: p[1], P99: p[2], Max: int64(l.Max)}
	for i, n := range t.buckets {
		from, to := int64(0), int64(0)
		if i > 0 {
			from, to = 1<<(i-1), 1<<i-1
		}
		if to >= r.Min && from <= r.Max {
			r.Buckets = append(r.Buckets, Bucket{from, to, n})
		}
	}
	return r
}

// timeBuckets is the number of buckets for arrivals.
const timeBuckets = 64

// times counts instants in buckets. Their width doubles whenever the trace gets longer than all buckets.
type times struct {
	n           int64
	first, last float64 // ms
	origin      float64 // start of the first bucket, a multiple of width
	width       float64
	counts      [timeBuckets]int64
}

func (t *times) add(ms float64) {
	if t.n == 0 {
		t.first, t.last, t.width, t.origin = ms, ms, 1, math.Floor(ms)
	}
	t.n++
	t.first, t.last = min(t.first, ms), max(t.last, ms)
	if ms < t.origin || ms >= t.origin+t.width*timeBuckets {
		t.fit()
	}
	t.counts[int((ms-t.origin)/t.width)]++
}

// fit doubles the width until all instants fit. Buckets start at multiples of their width, so that each old bucket falls into one new bucket.
func (t *times) fit() {
	width := t.width
	for math.Floor(t.last/width)-math.Floor(t.first/width) >= timeBuckets {
		width *= 2
	}
	origin := math.Floor(t.first/width) * width
	var counts [timeBuckets]int64
	for i, n := range t.counts {
		if n > 0 {
			counts[int((t.origin+t.width*float64(i)-origin)/width)] += n
		}
	}
	t.counts, t.width, t.origin = counts, width, origin
}

func (t *times) result() *Arrivals {
	if t.n == 0 {
		return nil
	}
	from := int((t.first - t.origin) / t.width)
	to := int((t.last - t.origin) / t.width)
	return &Arrivals{First: t.first, Last: t.last, BucketMs: t.width, Counts: append([]int64(nil), t.counts[from:to+1]...)}
}
