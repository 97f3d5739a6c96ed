package plots

import (
	"fmt"
	"math"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// events are the steps of a rate over time. The tokens of a request are spread evenly from its first token to its end.
type events struct {
	at     []float64 // s since the first step
	rate   []float64 // tokens/s
	active []float64 // requests
}

// eventLine returns the rate of tokens or the number of generating requests, step by step.
func (s *Single) eventLine(name string) (*line, error) {
	if s.events == nil {
		e, err := s.newEvents()
		if err != nil {
			return nil, err
		}
		s.events = e
	}
	l := &line{x: s.events.at, y: s.events.rate, title: columnTitle(name), step: true}
	if name == active {
		l.y = s.events.active
		return l, nil
	}
	for _, n := range s.events.active {
		l.hover = append(l.hover, fmt.Sprintf("active requests: %.0f", n))
	}
	return l, nil
}

func (s *Single) newEvents() (*events, error) {
	q, err := s.Run.Requests()
	if err != nil {
		return nil, err
	}
	tokens, ok := q.Column("output_sequence_length")
	if !ok {
		return nil, &Missing{What: "output_sequence_length"}
	}
	ttft, _ := q.Column("time_to_first_token")
	type step struct {
		at      int64
		rate, n float64
	}
	var steps []step
	for i := range tokens {
		from := q.Start[i]
		if ttft != nil && ttft[i] > 0 {
			from += int64(ttft[i] * 1e6)
		}
		if !(tokens[i] > 0) || q.End[i] <= from {
			continue
		}
		rate := tokens[i] / (float64(q.End[i]-from) / 1e9)
		steps = append(steps, step{from, rate, 1}, step{q.End[i], -rate, -1})
	}
	if steps == nil {
		return nil, &Missing{What: "output_sequence_length"}
	}
	sorting.Stable(steps, func(a, b step) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	e := &events{}
	rate, n := stats.Sum{}, 0.0
	for _, one := range steps {
		rate.Add(one.rate)
		now := rate.Value()
		if n += one.n; n == 0 {
			rate, now = stats.Sum{}, 0 // no request is active, so rounding errors are reset
		}
		e.at, e.rate, e.active = append(e.at, float64(one.at-steps[0].at)/1e9), append(e.rate, math.Max(now, 0)), append(e.active, n)
	}
	return e, nil
}
