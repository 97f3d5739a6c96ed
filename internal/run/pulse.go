package run

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/metric"
)

// Bounds of what counts as a server that stands still.
const (
	leastSilence = time.Second // shorter ones are no news
	usualGaps    = 5           // times the p99 of the other gaps between events
	usualFirst   = 2           // times the usual wait for the first event: a long prefill is no standstill
)

// pulse watches whether servers send anything while requests wait. An event is anything that arrives for any request. It is told of every
// event in the middle of the reading, so it locks nothing there and keeps counts only; a gap of a second or more is rare and noted.
type pulse struct {
	last    atomic.Int64 // the last event, or the instant from which on requests waited again
	waiting atomic.Int64 // requests under way
	gaps    [64 << gapBits]atomic.Uint32
	firsts  [64 << gapBits]atomic.Uint32
	blind   func(from, to int64) int64 // how long the client itself did not look, at a stretch; nil = never

	mu   sync.Mutex
	long []metric.Silence // gaps of a second or more, monotonic ns
}

// gapBits choose a bucket below the leading bit: 1/8 of relative width.
const gapBits = 3

func gapBucket(ns int64) int {
	lead := bits.Len64(uint64(ns)) - 1 - gapBits
	if lead <= 0 {
		return int(max(ns, 0))
	}
	return lead<<gapBits + int(ns>>lead)
}

// gapEnd is the largest number of a bucket.
func gapEnd(bucket int) int64 {
	lead := bucket>>gapBits - 1
	if lead <= 0 {
		return int64(bucket)
	}
	return (int64(bucket&(1<<gapBits-1)|1<<gapBits)+1)<<lead - 1
}

// begin forgets what was before: the measured phases begin.
func (p *pulse) begin() {
	for i := range p.gaps {
		p.gaps[i].Store(0)
		p.firsts[i].Store(0)
	}
	p.mu.Lock()
	p.long = nil
	p.mu.Unlock()
}

// Enter tells that a request is sent.
func (p *pulse) Enter() {
	if p.waiting.Add(1) == 1 {
		p.raise(clock.Now())
	}
}

// Leave tells that a request is over, whatever became of it.
func (p *pulse) Leave() {
	if p.waiting.Add(-1) > 0 {
		return
	}
	if now, last := clock.Now(), p.last.Load(); now-last >= int64(leastSilence) { // nothing came until the last one was given up
		p.note(last, now, 1)
	}
}

// raise moves the last event forward, never back, and returns the one before; 0 = it was not moved.
func (p *pulse) raise(at int64) int64 {
	for {
		old := p.last.Load()
		if at <= old {
			return 0
		}
		if p.last.CompareAndSwap(old, at) {
			return old
		}
	}
}

// event tells that something arrived at an instant.
func (p *pulse) event(at int64) {
	old := p.raise(at)
	if old == 0 {
		return
	}
	gap := at - old
	p.gaps[gapBucket(gap)].Add(1)
	if gap >= int64(leastSilence) {
		p.note(old, at, p.waiting.Load())
	}
}

// first tells how long a request waited for its first event.
func (p *pulse) first(ns int64) { p.firsts[gapBucket(ns)].Add(1) }

func (p *pulse) note(from, to, waiting int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const most = 1000 // more tell nothing new
	if len(p.long) < most {
		p.long = append(p.long, metric.Silence{From: from, To: to, Waiting: waiting})
	}
}

// limit is how long a silence must be to be one, by the other gaps and the waits for first events. A silence that is over is a gap itself,
// of a bucket; -1 = it goes on.
func (p *pulse) limit(bucket int) time.Duration {
	usual := usualGaps * quantile(p.gaps[:], 0.99, bucket)
	return max(leastSilence, time.Duration(usual), time.Duration(usualFirst*quantile(p.firsts[:], 0.5, -1)))
}

// quantile is the upper end of the bucket in which it lies; 0 of nothing. One count of a bucket is left out; -1 = none is.
func quantile(buckets []atomic.Uint32, q float64, without int) int64 {
	count := func(i int) int64 {
		n := int64(buckets[i].Load())
		if i == without && n > 0 {
			n--
		}
		return n
	}
	var total int64
	for i := range buckets {
		total += count(i)
	}
	rank, seen := q*float64(total), int64(0)
	for i := range buckets {
		n := count(i)
		if seen += n; n > 0 && float64(seen) >= rank {
			return gapEnd(i)
		}
	}
	return 0
}

// real tells whether a silence was the servers': long for them, and not only because the client did not look. bucket is that of limit.
func (p *pulse) real(s metric.Silence, bucket int) bool {
	length := s.To - s.From
	if p.blind != nil {
		length -= p.blind(s.From, s.To)
	}
	return length >= int64(p.limit(bucket))
}

// now is the silence that goes on at an instant; zero = there is none.
func (p *pulse) now(at int64) metric.Silence {
	s := metric.Silence{From: p.last.Load(), To: at, Waiting: p.waiting.Load()}
	if s.Waiting == 0 || s.From == 0 || at-s.From < int64(leastSilence) || !p.real(s, -1) {
		return metric.Silence{}
	}
	return s
}

// silences are those so far that are over, as instants of the wall clock.
func (p *pulse) silences() (list []metric.Silence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.long {
		if p.real(s, gapBucket(s.To-s.From)) {
			list = append(list, metric.Silence{From: clock.Wall(s.From), To: clock.Wall(s.To), Waiting: s.Waiting})
		}
	}
	return list
}
