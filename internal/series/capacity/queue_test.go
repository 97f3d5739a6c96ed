package capacity

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/batching"
)

// queue is a server of places that each take as long for a request, s, with Poisson arrivals in one line (M/D/c); the objective is on the latency.
type queue struct {
	r              *rand.Rand
	places         int
	service, limit float64
}

// run returns the requests of a number of s at a rate.
func (q *queue) run(rate, seconds float64) (out []Request) {
	free := make([]float64, q.places) // from when on each is, the earliest first
	for now := q.r.ExpFloat64() / rate; now < seconds; now += q.r.ExpFloat64() / rate {
		end := max(now, free[0]) + q.service
		k, _ := slices.BinarySearch(free[1:], end)
		copy(free, free[1:k+1])
		free[k] = end
		out = append(out, Request{Start: now, End: end, Values: []float64{end - now}, Known: []float64{now + q.limit}})
	}
	return out
}

// Alone implements Server.
func (q *queue) Alone(context.Context) (float64, []Request, error) {
	return q.service, []Request{{End: q.service, Values: []float64{q.service}, Known: []float64{q.limit}}}, nil
}

// Cell implements Server.
func (q *queue) Cell(_ context.Context, load float64, looks []float64, done func(float64, []Request) bool) (LoadFidelity, error) {
	show(q.run(load, looks[len(looks)-1]), looks, done)
	return LoadFidelity{}, nil
}

// show passes the requests of a cell on at each look, until the search has seen enough.
func show(list []Request, looks []float64, done func(float64, []Request) bool) {
	for _, at := range looks {
		if done(at, list) {
			break
		}
	}
}

// TestQueue: searches of plain queues, whose bursts last as long as short cells do, are settled within their cells and near the truth, which is that of
// 400,000 arrivals.
func TestQueue(t *testing.T) {
	testhome.Slow(t)
	n := 2
	if *full {
		n = 24
	}
	for _, one := range []queue{{places: 10, service: .2, limit: .4}, {places: 4, service: .1, limit: .25}} {
		const allowed = .05
		one.r = rand.New(rand.NewPCG(1, 2))
		low, high := .5*float64(one.places)/one.service, float64(one.places)/one.service
		for range 10 {
			m := (low + high) / 2
			bad, all := 0.0, one.run(m, 400_000/m)
			for i := range all {
				if all[i].Values[0] > one.limit {
					bad++
				}
			}
			if bad > allowed*float64(len(all)) {
				high = m
			} else {
				low = m
			}
		}
		settled, near, holds, seconds := 0, 0, 0, 0.0
		for i := range n {
			q := one
			q.r = rand.New(rand.NewPCG(uint64(i), 9))
			a, err := Find(t.Context(), &q, Options{Objectives: []Objective{{"latency", q.limit, allowed}}, Precision: .07, Seconds: 600, Cells: 40, Size: 10, MaxLooks: 4})
			if err != nil {
				t.Fatal(err)
			}
			if seconds += a.Seconds / float64(n); a.Why == Settled {
				settled++
			}
			if math.Abs(a.Capacity/low-1) <= .1 {
				near++
			}
			if a.Low <= low && low <= a.High {
				holds++
			}
		}
		t.Logf("%d places, truth %.2f: settled %d, within 10 %% %d, interval holds %d of %d, %.0f s", one.places, low, settled, near, holds, n, seconds)
		if limit := .9 * float64(n); float64(settled) < limit || float64(near) < limit || float64(holds) < limit || seconds > 400 {
			t.Errorf("%d places, truth %.2f: settled %d, within 10 %% %d, interval holds %d of %d, %.0f s", one.places, low, settled, near, holds, n, seconds)
		}
	}
}

// timed is a server whose cells take a number of s longer by the clock than they count.
type timed struct {
	simulated
	clock, extra float64
}

// Alone implements Server.
func (s *timed) Alone(ctx context.Context) (float64, []Request, error) {
	s.clock += 3 + s.extra
	return s.simulated.Alone(ctx)
}

// Cell implements Server.
func (s *timed) Cell(ctx context.Context, load float64, looks []float64, done func(float64, []Request) bool) (LoadFidelity, error) {
	last := looks[len(looks)-1]
	kept, err := s.simulated.Cell(ctx, load, looks, func(at float64, list []Request) bool {
		enough := done(at, list)
		if enough {
			last = at
		}
		return enough
	})
	s.clock += last + s.extra
	return kept, err
}

// TestTimeLimit: a search ends within its time, also where a cell takes longer than it counts. A cell that would not fit is not begun, and the answer
// says how long it would have taken.
func TestTimeLimit(t *testing.T) {
	const longestAlone = 8 // s: what one user takes at the start cannot be shortened
	unfitted := 0
	for _, limit := range []float64{5, 12, 30, 75} {
		for _, extra := range []float64{0.4, 3} {
			s := &timed{simulated: simulated{o: batching.Default(), limit: 200, seed: 100}, extra: extra}
			a, err := Find(t.Context(), s, Options{
				Objectives: []Objective{{"objective", 200, .01}}, Precision: .07, Seconds: limit, Cells: 40, Size: 10, MaxLooks: 4, Elapsed: func() float64 { return s.clock },
			})
			if err != nil {
				t.Fatal(err)
			}
			if a.Seconds > max(limit, longestAlone) {
				t.Errorf("limit %g s, %g s beside each cell: took %.1f s", limit, extra, a.Seconds)
			}
			if a.Needed == 0 && a.Why == Time && a.Seconds < limit-1 {
				t.Errorf("limit %g s: the time is used up, and no cell was left out", limit)
			}
			if a.Needed > 0 {
				unfitted++
				if a.Left >= a.Needed || a.Left < 0 || a.Why == Settled {
					t.Errorf("limit %g s: %.1f s left, %.1f s needed, %s", limit, a.Left, a.Needed, a.Why)
				}
			}
		}
	}
	if unfitted == 0 {
		t.Error("no search left a cell out")
	}
}
