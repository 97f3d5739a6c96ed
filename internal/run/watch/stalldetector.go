// Package watch observes a run while it sends: stalls of the servers, the resources of the client, the phases, and the searches of adaptive phases.
package watch

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/metric"
)

// Limits for a silence that counts as a stall of the servers.
const (
	leastSilence = time.Second // shorter silences are ignored
	usualGaps    = 5           // multiple of the p99 of the other gaps between events
	usualFirst   = 2           // multiple of the usual wait for the first event: a long prefill is not a stall
)

// StallDetector detects times in which no server sends anything although requests wait. An event is any data that arrives for any request. It is
// called for every event while data are read, so it takes no locks there and only counts. Gaps of a second or more are rare and stored.
type StallDetector struct {
	last       atomic.Int64 // instant of the last event, or from which requests waited again
	waiting    atomic.Int64 // requests in flight
	most       atomic.Int64 // largest number of them since the last event
	gaps       [64 << gapBits]atomic.Uint32
	firsts     [64 << gapBits]atomic.Uint32
	NotReading func(from, to int64) int64 // returns how long the client itself was not reading between two instants; nil = never

	// The last event before requests waited again: Enter moves last from quietFrom to entered, and a time without data continues.
	quietFrom, entered atomic.Int64

	mu    sync.Mutex
	long  []metric.ServerSilence // gaps of a second or more, monotonic ns
	quiet []metric.Window        // times of a second or more without data, also while nobody waited, monotonic ns
}

// mostSilences is the number of silences that are stored. More do not change the picture.
const mostSilences = 1000

// gapBits is the number of bits below the leading one that choose a bucket: buckets have a relative width of 1/8.
const gapBits = 3

func gapBucket(ns int64) int {
	lead := bits.Len64(uint64(ns)) - 1 - gapBits
	if lead <= 0 {
		return int(max(ns, 0))
	}
	return lead<<gapBits + int(ns>>lead)
}

// gapEnd returns the largest number of a bucket.
func gapEnd(bucket int) int64 {
	lead := bucket>>gapBits - 1
	if lead <= 0 {
		return int64(bucket)
	}
	return (int64(bucket&(1<<gapBits-1)|1<<gapBits)+1)<<lead - 1
}

// Reset resets the detector at the start of the measured phases.
func (p *StallDetector) Reset() {
	for i := range p.gaps {
		p.gaps[i].Store(0)
		p.firsts[i].Store(0)
	}
	p.mu.Lock()
	p.long, p.quiet = nil, nil
	p.mu.Unlock()
}

// Enter is called when a request is sent.
func (p *StallDetector) Enter() {
	if n := p.waiting.Add(1); n > 1 {
		for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
		}
		return
	}
	p.most.Store(1)
	now := clock.Now()
	if old, moved := p.raise(now); moved {
		p.quietFrom.Store(p.quietSince(old))
		p.entered.Store(now)
	}
}

// quietSince returns the instant of the last event, if last has a value.
func (p *StallDetector) quietSince(last int64) int64 {
	if last == p.entered.Load() {
		return p.quietFrom.Load()
	}
	return last
}

// Leave is called when a request is over, successful or not.
func (p *StallDetector) Leave() {
	if p.waiting.Add(-1) > 0 {
		return
	}
	if now, last := clock.Now(), p.last.Load(); now-last >= int64(leastSilence) { // nothing arrived until the last request was given up
		p.addLong(last, now, max(1, p.most.Load()))
	}
}

// raise moves the last event forward, never back. It returns the previous event.
func (p *StallDetector) raise(at int64) (old int64, moved bool) {
	for {
		old := p.last.Load()
		if at <= old {
			return 0, false
		}
		if p.last.CompareAndSwap(old, at) {
			return old, true
		}
	}
}

// Received is called when data arrive.
func (p *StallDetector) Received(at int64) {
	old, moved := p.raise(at)
	if !moved {
		return
	}
	if from := p.quietSince(old); at-from >= int64(leastSilence) {
		p.addQuiet(metric.Window{From: from, To: at})
	}
	if old == 0 {
		return
	}
	most := p.most.Swap(p.waiting.Load())
	gap := at - old
	p.gaps[gapBucket(gap)].Add(1)
	if gap >= int64(leastSilence) {
		p.addLong(old, at, max(most, p.waiting.Load()))
	}
}

// FirstWait is called with the time that a request waited for its first event.
func (p *StallDetector) FirstWait(ns int64) { p.firsts[gapBucket(ns)].Add(1) }

func (p *StallDetector) addLong(from, to, waiting int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.long) < mostSilences {
		p.long = append(p.long, metric.ServerSilence{From: from, To: to, Waiting: waiting})
	}
}

// limit returns the shortest silence that counts as a stall, from the other gaps and the waits for first events. A finished silence is itself a gap:
// bucket is its bucket, which is counted once less. -1 = the silence continues.
func (p *StallDetector) limit(bucket int) time.Duration {
	usual := usualGaps * quantile(p.gaps[:], 0.99, bucket)
	return max(leastSilence, time.Duration(usual), time.Duration(usualFirst*quantile(p.firsts[:], 0.5, -1)))
}

// quantile returns the upper end of the bucket with the q-quantile; 0 if all buckets are empty. One sample of the bucket without is excluded; -1 =
// none.
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

// isStall reports whether a silence was a stall of the servers: long enough, and not because the client was not reading. bucket is that of limit.
func (p *StallDetector) isStall(s metric.ServerSilence, bucket int) bool {
	length := s.To - s.From
	if p.NotReading != nil {
		length -= p.NotReading(s.From, s.To)
	}
	return length >= int64(p.limit(bucket))
}

// Current returns the stall that continues at an instant; zero = none.
func (p *StallDetector) Current(at int64) metric.ServerSilence {
	s := metric.ServerSilence{From: p.last.Load(), To: at, Waiting: p.waiting.Load()}
	if s.Waiting == 0 || s.From == 0 || at-s.From < int64(leastSilence) || !p.isStall(s, -1) {
		return metric.ServerSilence{}
	}
	return s
}

// Silences returns the finished stalls so far, as instants of the wall clock.
func (p *StallDetector) Silences() []metric.ServerSilence { return p.silences(clock.Wall) }

func (p *StallDetector) silences(wall func(at int64) int64) (list []metric.ServerSilence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.long {
		if p.isStall(s, gapBucket(s.To-s.From)) {
			list = append(list, metric.ServerSilence{From: wall(s.From), To: wall(s.To), Waiting: s.Waiting})
		}
	}
	return list
}
