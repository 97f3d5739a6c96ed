package runfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/valyala/fastjson"
)

// Seconds holds the lines of a run's timeline: the state of requests, servers and GPUs in every second, on one clock.
type Seconds struct {
	At      []int64 // start of each second: wall clock, ns
	figures map[string][]float64
}

// Figure returns a figure with one value per second, in the unit of the file; NaN = none. A part of a figure follows a dot:
// time_to_first_token_ms.p50.
func (s *Seconds) Figure(key string) ([]float64, bool) {
	v, ok := s.figures[key]
	return v, ok
}

func (r *Run) readSeconds() (*Seconds, error) {
	s := &Seconds{figures: map[string][]float64{}}
	err := r.lines(secondsFile, func(v *fastjson.Value) error {
		fields, err := v.Object()
		if err != nil {
			return err
		}
		s.At = append(s.At, v.GetInt64("timestamp_ns"))
		s.take("", fields)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(s.At) == 0 {
		return nil, fmt.Errorf("timeline (%s): %w", secondsFile, ErrNone)
	}
	for key, v := range s.figures {
		s.figures[key] = upTo(v, len(s.At))
	}
	return s, err
}

// take reads the figures of the last second.
func (s *Seconds) take(before string, fields *fastjson.Object) {
	fields.Visit(func(key []byte, v *fastjson.Value) {
		name := before + string(key)
		switch v.Type() {
		case fastjson.TypeNumber:
			s.figures[name] = append(upTo(s.figures[name], len(s.At)-1), v.GetFloat64())
		case fastjson.TypeObject:
			if before == "" {
				s.take(name+".", v.GetObject())
			}
		}
	})
}

// upTo extends a column to n seconds with missing values.
func upTo(v []float64, n int) []float64 {
	for len(v) < n {
		v = append(v, math.NaN())
	}
	return v[:n]
}
