package render

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/report/chart"
)

// scale is an axis with known ends and positions.
type scale struct {
	*chart.Axis
	lo, hi float64
	from   float64 // position of lo, in points
	to     float64 // position of hi, in points
	ticks  []chart.Tick
}

// newScale finds the ends of an axis from the values on it; marks is the approximate number of ticks that fit.
func newScale(a *chart.Axis, s span, marks int) scale {
	x := scale{Axis: a, lo: s.lo, hi: s.hi}
	log := a.Kind() == chart.Log
	switch {
	case a.Kind() == chart.Category:
		x.lo, x.hi = -0.6, float64(max(len(a.Labels), 1))-0.4
	case a.Fixed:
		x.lo, x.hi = a.Min, a.Max
	case s.empty():
		x.lo, x.hi = 0, 1
		if log {
			x.lo, x.hi = 1, 10
		}
	case log:
		room := max(0.05*math.Log10(x.hi/x.lo), 0.05)
		x.lo, x.hi = x.lo*math.Pow(10, -room), x.hi*math.Pow(10, room)
	default:
		if a.FromZero {
			x.lo, x.hi = min(x.lo, 0), max(x.hi, 0)
		}
		room := 0.05 * (x.hi - x.lo)
		if room == 0 {
			room = max(0.05*math.Abs(x.hi), 0.5)
		}
		if !a.FromZero || x.lo != 0 {
			x.lo -= room
		}
		if !a.FromZero || x.hi != 0 {
			x.hi += room
		}
	}
	if !(x.hi > x.lo) { // all values are zero on an axis from zero, so there is no range
		x.hi = x.lo + max(1, 0.05*math.Abs(x.lo))
	}
	x.ticks = a.Ticks
	if x.ticks == nil {
		x.ticks = x.choose(marks)
	}
	return x
}

// choose places ticks at round values, or at the labels of a category axis.
func (s *scale) choose(marks int) []chart.Tick {
	switch s.Kind() {
	case chart.Category:
		var list []chart.Tick
		for i, label := range s.Labels {
			list = append(list, chart.Tick{At: float64(i), Text: label})
		}
		return list
	case chart.Log:
		if list := decades(s.lo, s.hi); len(list) > 1 {
			return list
		}
	}
	return round(s.lo, s.hi, marks)
}

// round returns multiples of 1, 2 or 5 times a power of ten.
func round(lo, hi float64, marks int) []chart.Tick {
	step := chart.RoundStep((hi - lo) / float64(max(marks, 2)))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var list []chart.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		list = append(list, chart.Tick{At: k * step, Text: figure(k*step, decimals)})
	}
	return list
}

// decades returns powers of ten, with 2 and 5 times them if there are few.
func decades(lo, hi float64) []chart.Tick {
	between := []float64{1}
	if math.Log10(hi/lo) < 3 {
		between = []float64{1, 2, 5}
	}
	var list []chart.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, k := range between {
			if v := k * math.Pow(10, e); v >= lo && v <= hi {
				list = append(list, chart.Tick{At: v, Text: figure(v, max(0, -int(e)))})
			}
		}
	}
	return list
}

// figure formats a number with thousands separators.
func figure(v float64, decimals int) string {
	if math.Abs(v) >= 1e9 || decimals > 6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(digits, "-0.") == "" {
		digits = strings.TrimPrefix(digits, "-")
	}
	whole, rest, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > len(whole[:min(1, len(whole))])-1 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// at returns the position of a value.
func (s *scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.Kind() == chart.Log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// shows reports whether the axis can show a value.
func (s *scale) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (s.Kind() != chart.Log || v > 0)
}

// span is the smallest and the largest of some values.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) empty() bool { return s.lo > s.hi }

func (s *span) add(v float64, log bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
		return
	}
	s.lo, s.hi = min(s.lo, v), max(s.hi, v)
}

// spans returns the ranges of a chart's values per axis.
func spans(c *chart.Chart) (x, y, y2 span) {
	x, y, y2 = newSpan(), newSpan(), newSpan()
	for i := range c.Traces {
		t := &c.Traces[i]
		side, axis := &y, &c.Y
		if t.Second && c.Y2 != nil {
			side, axis = &y2, c.Y2
		}
		logX, logY := c.X.Kind() == chart.Log, axis.Kind() == chart.Log
		for k := range t.X {
			if math.IsNaN(t.Y[k]) {
				continue
			}
			ex, ey := t.Cell.Width/2, t.Cell.Height/2
			if k < len(t.ErrorX) {
				ex = t.ErrorX[k]
			}
			if k < len(t.ErrorY) && !math.IsNaN(t.ErrorY[k]) {
				ey = t.ErrorY[k]
			}
			x.add(t.X[k]-ex, logX)
			x.add(t.X[k]+ex, logX)
			side.add(t.Y[k]-ey, logY)
			side.add(t.Y[k]+ey, logY)
		}
		if t.Kind == chart.Bar || t.Fill == chart.ToZero {
			side.add(0, logY)
		}
	}
	return x, y, y2
}
