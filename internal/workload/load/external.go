package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/rng"
)

// ArrivalCategory is the category of plug-ins that draw intervals between arrivals.
const ArrivalCategory = "arrival_pattern"

// externalStream is the random stream that gives a plug-in its seed.
const externalStream = "timing.request.plugin_interval"

// External is the pattern of a phase whose intervals a plug-in draws.
const External Pattern = "plug-in"

// Blocks of intervals that a plug-in draws ahead.
const (
	blockTime   = 10 * time.Second // time that a block covers on average
	minBlock    = 1000
	maxBlock    = 200_000
	blocksAhead = 2
)

// Intervals are the intervals of a plug-in. They are drawn in blocks, ahead of their use: the schedule never waits for the program.
type Intervals struct {
	Seed    uint64 // given to the program: equal seeds give equal intervals
	rate    float64
	program *program.Bound
	plugin  string
	blocks  chan []float64 // closed after a failure
	end     context.CancelFunc
	done    chan struct{}

	err    error // why there are no more blocks; set before blocks is closed
	failed error // of the schedule: it has no next interval
	block  []float64
	used   int
}

// OpenIntervals starts the program of a plug-in and draws the first block. rate is that of the phase in requests/s; 0 = it varies, then the intervals are
// those of 1 request/s. Close ends it.
func OpenIntervals(ctx context.Context, e *plugin.Entry, rate float64, seed uint64, log func(line string)) (*Intervals, error) {
	if rate <= 0 {
		rate = 1
	}
	ctx, end := context.WithCancel(ctx)
	p, err := program.Under(ctx, log)(e, "intervals")
	if err != nil {
		end()
		return nil, err
	}
	s := &Intervals{Seed: seed, rate: rate, program: p, plugin: e.ID(), blocks: make(chan []float64, blocksAhead), end: end, done: make(chan struct{})}
	count := min(max(int(rate*blockTime.Seconds()), minBlock), maxBlock)
	if s.block, err = s.draw(0, count); err != nil {
		s.err = err
		close(s.done)
		return nil, errors.Join(err, s.Close())
	}
	go s.fill(ctx, count)
	return s, nil
}

// SeedOf returns the seed of a phase's plug-in: an integer that JSON holds exactly.
func SeedOf(root *rng.Root, phase string) uint64 {
	return root.Stream(externalStream+"."+phase).Seed() >> 11
}

// fill draws blocks until the end.
func (s *Intervals) fill(ctx context.Context, count int) {
	defer close(s.done)
	defer close(s.blocks)
	for first := count; ; first += count {
		block, err := s.draw(first, count)
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.blocks <- block:
		case <-ctx.Done():
			s.err = context.Cause(ctx)
			return
		}
	}
}

// draw asks the program for a block and returns it at the unit rate.
func (s *Intervals) draw(first, count int) ([]float64, error) {
	var answer struct {
		Intervals []float64 `json:"intervals_s"`
	}
	params := map[string]any{"rate": s.rate, "count": count, "seed": s.Seed, "first": first}
	if err := s.program.Call("intervals", params, &answer); err != nil {
		return nil, err
	}
	err := checkIntervals(answer.Intervals, count)
	if err != nil {
		return nil, &program.Error{Plugin: s.plugin, Method: "intervals", Err: err}
	}
	for i := range answer.Intervals {
		answer.Intervals[i] *= s.rate
	}
	return answer.Intervals, nil
}

// checkIntervals refuses intervals with which time would not pass.
func checkIntervals(list []float64, count int) error {
	if len(list) != count {
		return fmt.Errorf("the result has %d intervals, but %d are needed", len(list), count)
	}
	sum := 0.0
	for i, v := range list {
		if !(v >= 0) || v > maxInterval {
			return fmt.Errorf("intervals_s[%d] is %v, but must be between 0 and %v", i, v, float64(maxInterval))
		}
		sum += v
	}
	if !(sum > 0) {
		return errors.New("all intervals are 0")
	}
	return nil
}

// maxInterval is the longest interval in seconds.
const maxInterval = 1e8

// next returns the next interval at the unit rate. After a failure it returns an interval that never ends, and Failed the reason.
func (s *Intervals) next() float64 {
	if s.used == len(s.block) && s.failed == nil {
		select {
		case block, more := <-s.blocks:
			if !more {
				s.failed = s.err
				break
			}
			s.block, s.used = block, 0
		default:
			s.failed = &program.Error{Plugin: s.plugin, Method: "intervals", Err: s.lateness()}
		}
	}
	if s.failed != nil {
		return maxInterval * math.Max(s.rate, 1)
	}
	s.used++
	return s.block[s.used-1]
}

// lateness is the error of a program whose next block is not there when it is due.
func (s *Intervals) lateness() error {
	covered := time.Duration(float64(len(s.block)) / s.rate * float64(time.Second)).Round(time.Millisecond)
	return fmt.Errorf("the intervals are used up, because the program needs more time for a block of %d intervals than these take (%v on average)", len(s.block), covered)
}

// Close ends the program.
func (s *Intervals) Close() error {
	s.end()
	<-s.done
	_ = s.program.Close() // a fault was reported where it mattered
	return nil
}
