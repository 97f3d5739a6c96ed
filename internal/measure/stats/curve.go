package stats

import (
	"cmp"
	"math"
	"slices"
)

// Point is one step of a curve: from instant T (ns) on, the curve has value V.
type Point struct {
	T int64
	V float64
}

// Curve is a step function of time. It is 0 before its first point, and then has the value of the last point passed. Points are sorted by T, and no
// two share an instant.
type Curve []Point

// Steps collects the changes of a curve, in any order.
type Steps []Point

// Add changes the curve by d at instant t.
func (s *Steps) Add(t int64, d float64) {
	if k := len(*s) - 1; k >= 0 && (*s)[k].T == t {
		(*s)[k].V += d // steps of the same record often fall on the same instant
		return
	}
	*s = append(*s, Point{t, d})
}

// Span adds rate r over [from, to).
func (s *Steps) Span(from, to int64, r float64) {
	s.Add(from, r)
	s.Add(to, -r)
}

// Running is the state of a curve that is built part by part, in the order of time: its last value and its largest one.
type Running struct {
	sum Sum
	top float64
}

// Curve sums the steps of the next part. Rounding errors below 1e-9 of the largest value so far become 0. The steps must not be used afterwards. There
// may be millions of them; sorting them here takes less time and memory than package sorting.
func (r *Running) Curve(s Steps) Curve {
	slices.SortFunc(s, func(a, b Point) int { return cmp.Compare(a.T, b.T) })
	n := 0
	for i := 0; i < len(s); {
		t := s[i].T
		for ; i < len(s) && s[i].T == t; i++ {
			r.sum.Add(s[i].V)
		}
		s[n] = Point{t, r.sum.Value()}
		r.top = max(r.top, math.Abs(s[n].V))
		n++
	}
	c := Curve(s[:n])
	for i := range c {
		if math.Abs(c[i].V) < 1e-9*r.top {
			c[i].V = 0
		}
	}
	return c
}

// Per appends the curve divided by another to an empty one; 0 where the other is not above 0.
func (c Curve) Per(by, out Curve) Curve {
	out = slices.Grow(out, len(c)+len(by))
	merge(c, by, 0, 0, func(t int64, v, d float64) {
		if d > 0 {
			v /= d
		} else {
			v = 0
		}
		if k := len(out) - 1; k >= 0 && out[k].V == v {
			return
		}
		out = append(out, Point{t, v})
	})
	return out
}

// merge calls visit for each instant of two curves, with both values from that instant on. Before the first instant they are va and vb.
func merge(a, b Curve, va, vb float64, visit func(t int64, a, b float64)) {
	for i, j := 0, 0; i < len(a) || j < len(b); {
		t := int64(math.MaxInt64)
		if i < len(a) {
			t = a[i].T
		}
		if j < len(b) {
			t = min(t, b[j].T)
		}
		if i < len(a) && a[i].T == t {
			va = a[i].V
			i++
		}
		if j < len(b) && b[j].T == t {
			vb = b[j].V
			j++
		}
		visit(t, va, vb)
	}
}

// Segment is a part of a curve with a constant value.
type Segment struct {
	Dt int64 // ns, > 0
	V  float64
}

// Segments appends the segments of the curve in the window [from, to) to out, including a leading part of 0.
func (c Curve) Segments(out []Segment, from, to int64) []Segment {
	v, inner := c.cut(from, to)
	out = slices.Grow(out, len(inner)+1)
	last := from
	for _, p := range inner {
		out = append(out, Segment{p.T - last, v})
		v, last = p.V, p.T
	}
	if to > last {
		out = append(out, Segment{to - last, v})
	}
	return out
}

// Within appends the segments of the curve in [from, to) in which the mask is above 0 to out.
func (c Curve) Within(out []Segment, mask Curve, from, to int64) []Segment {
	v, inner := c.cut(from, to)
	m, innerMask := mask.cut(from, to)
	out = slices.Grow(out, len(inner)+len(innerMask)+1)
	last := from
	put := func(t int64) {
		if t > last && m > 0 {
			out = append(out, Segment{t - last, v})
		}
		last = max(last, t)
	}
	merge(inner, innerMask, v, m, func(t int64, cv, mv float64) {
		put(t)
		v, m = cv, mv
	})
	put(to)
	return out
}

// cut returns the value at from and the points after it and before to. Its cost does not depend on the rest of the curve.
func (c Curve) cut(from, to int64) (at float64, inner Curve) {
	after := func(p Point, t int64) int {
		if p.T <= t {
			return -1
		}
		return 1
	}
	start, _ := slices.BinarySearchFunc(c, from, after)
	if start > 0 {
		at = c[start-1].V
	}
	n, _ := slices.BinarySearchFunc(c[start:], to-1, after)
	return at, c[start : start+n]
}

// TimeWeighted are the statistics of a curve over time.
type TimeWeighted struct {
	Avg, Min, Max, Std float64
	P50, P90, P95, P99 float64
}

// Weigh describes segments, with each value weighted by its duration. If there are none, everything is 0. It reorders the segments.
func Weigh(s []Segment) TimeWeighted {
	var total int64
	for _, x := range s {
		total += x.Dt
	}
	if total <= 0 {
		return TimeWeighted{}
	}
	var sum, squares Sum
	for _, x := range s {
		sum.Add(float64(x.Dt) * x.V)
	}
	w := TimeWeighted{Avg: sum.Value() / float64(total)}
	for _, x := range s {
		squares.Add(float64(x.Dt) * (x.V - w.Avg) * (x.V - w.Avg))
	}
	w.Std = math.Sqrt(squares.Value() / float64(total))
	w.Min, w.Max = s[0].V, s[0].V
	for _, x := range s {
		w.Min, w.Max = min(w.Min, x.V), max(w.Max, x.V)
	}
	at, before := 0, int64(0)
	for _, level := range [...]struct {
		share float64
		to    *float64
	}{{0.5, &w.P50}, {0.9, &w.P90}, {0.95, &w.P95}, {0.99, &w.P99}} {
		at, before = reach(s, at, before, total, level.share)
		*level.to = s[at].V
	}
	return w
}

// reach finds the smallest value up to which the durations of segments add up to a share of total. It returns the place of a segment with this value, and
// the duration of all smaller ones, which are before that place. from and before are what it returned for a smaller share; at first both are 0. It does not
// sort: each step divides the segments that may have the value into smaller, equal and larger ones than one that it draws.
func reach(s []Segment, from int, before, total int64, share float64) (at int, smaller int64) {
	reached := func(d int64) bool { return float64(d)/float64(total) >= share }
	draw := uint64(1) // a linear congruential generator: its places follow no pattern of the load
	for to := len(s); ; {
		draw = draw*6364136223846793005 + 1442695040888963407
		pivot := s[from+int(draw>>33%uint64(to-from))].V
		low, equal, lowTime, equalTime := divide(s[from:to], pivot)
		switch {
		case low > 0 && reached(before+lowTime):
			to = from + low
		case reached(before+lowTime+equalTime) || from+low+equal == to:
			return from + low, before + lowTime
		default:
			from, before = from+low+equal, before+lowTime+equalTime
		}
	}
}

// divide moves the segments with smaller values than pivot to the front and those with larger ones to the end. It returns how many are smaller and equal,
// and their durations.
func divide(s []Segment, pivot float64) (low, equal int, lowTime, equalTime int64) {
	end := len(s)
	for i := 0; i < end; {
		switch x := s[i]; {
		case x.V < pivot:
			s[i], s[low] = s[low], x
			lowTime += x.Dt
			low++
			i++
		case x.V > pivot:
			end--
			s[i], s[end] = s[end], x
		default:
			equalTime += x.Dt
			i++
		}
	}
	return low, end - low, lowTime, equalTime
}

// Scale multiplies every statistic by k > 0.
func (w TimeWeighted) Scale(k float64) TimeWeighted {
	return TimeWeighted{w.Avg * k, w.Min * k, w.Max * k, w.Std * k, w.P50 * k, w.P90 * k, w.P95 * k, w.P99 * k}
}
