package load

import (
	"math"
	"time"

	"aiperf/internal/base/rng"
)

// rampStream names the random stream of ramps.
const rampStream = "timing.ramp.poisson"

// unlimited is the value of a slot limit that is not set.
const unlimited = math.MaxInt

// step is a change of a value, in seconds after the start of the phase.
type step struct{ at, value float64 }

// limitSteps returns the values of a slot limit over time (7); the first step is at 0. No target means no limit.
func limitSteps(r Ramp, target int, stream func() *rng.Stream) []step {
	if target <= 0 {
		return []step{{value: unlimited}}
	}
	d := r.Duration.Seconds()
	from := int(r.From)
	if from <= 0 {
		from = 1
	}
	if d <= 0 || from == target {
		return []step{{value: float64(target)}}
	}
	steps := []step{{value: float64(from)}}
	if r.Strategy == PoissonRamp {
		return append(steps, poissonSteps(float64(from), float64(target), d, stream())...)
	}
	way, sign := target-from, 1
	if way < 0 {
		way, sign = -way, -1
	}
	for i := 1; i <= way; i++ {
		x := float64(i) / float64(way)
		if r.Strategy == Exponential {
			x = math.Sqrt(x)
		}
		steps = append(steps, step{at: d * x, value: float64(from + sign*i)})
	}
	return steps
}

// poissonSteps returns equal steps at the arrivals of a Poisson process, stretched so that the last step reaches the target at the end of the ramp.
func poissonSteps(from, target, duration float64, stream *rng.Stream) []step {
	rate := math.Abs(target-from) / duration
	if rate == 0 {
		return []step{{at: duration, value: target}}
	}
	var steps []step
	sum := 0.0
	for sum < duration {
		sum += stream.Exponential(rate)
		steps = append(steps, step{at: sum})
	}
	for i := range steps {
		steps[i].at *= duration / sum
		steps[i].value = from + (target-from)*float64(i+1)/float64(len(steps))
	}
	steps[len(steps)-1] = step{at: duration, value: target}
	return steps
}

// limit is a slot limit that follows its steps.
type limit struct {
	steps []step
	t0    int64
}

// at applies the steps that are due and returns the limit and the instant of the next step (never, if none is left).
func (l *limit) at(now int64) (value int, next int64) {
	for len(l.steps) > 1 && l.t0+ns(l.steps[1].at) <= now {
		l.steps = l.steps[1:]
	}
	next = never
	if len(l.steps) > 1 {
		next = l.t0 + ns(l.steps[1].at)
	}
	v := l.steps[0].value
	if v >= unlimited {
		return unlimited, next
	}
	return int(v + 1e-9), next
}

// never is an instant that is never reached.
const never = math.MaxInt64

// later returns the instant d (0 or more) after at; never, if it exceeds the range of the clock.
func later(at int64, d time.Duration) int64 {
	if sum := at + int64(d); sum >= at {
		return sum
	}
	return never
}

// ns converts seconds to nanoseconds, rounded to the nearest; times beyond the clock's range become never.
func ns(seconds float64) int64 {
	if v := math.Round(seconds * 1e9); v < float64(1<<62) {
		return int64(v)
	}
	return never / 2
}

// seconds converts nanoseconds to seconds.
func seconds(d int64) float64 { return float64(d) / 1e9 }
