package metric

import (
	"iter"
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// margins holds the possible errors of the values of one request, because its messages may have arrived before their timestamps.
type margins struct {
	// below and above hold, by column, the stated value minus the minimum, and the maximum minus the stated value. Of a value that is missing only because
	// the client read all messages together they are the least and the largest value that it may have; an above of 0 = it is missing anyway.
	below, above []float64
	late         []float64 // ns by which each content message may have arrived before its timestamp
}

// margins evaluates every metric with the instants at the ends of their ranges. Each metric is monotonic in each instant, so the ends of its range
// result from ends of theirs. nil = every instant is exact.
func (f *requestFacts) margins(r *Row) *margins {
	late := f.lateness()
	send := f.sendDelay()
	if late == nil && send == 0 {
		return nil
	}
	m := &margins{below: make([]float64, len(r.values)), above: make([]float64, len(r.values)), late: late}
	extremes := f.extremes(late, send)
	for _, c := range extremes {
		for col, pos := range r.set.columns {
			stated := r.values[col]
			if d := &table[pos]; d.record != nil && !math.IsNaN(stated) {
				m.widen(col, stated, d.record(&c))
			}
		}
	}
	if f.several && !f.measured && late != nil {
		m.possible(r, &extremes[1])
	}
	if col := r.set.good; col >= 0 {
		least, most := r.goodEnds(extremes)
		m.widen(col, r.values[col], least)
		m.widen(col, r.values[col], most)
	}
	return m
}

// possible stores the ranges of values that are missing because all messages share one instant. They end with the values of the longest possible time
// between the messages, and begin with those of none.
func (m *margins) possible(r *Row, longest *requestFacts) {
	for col, pos := range r.set.columns {
		d := &table[pos]
		if d.record == nil || !math.IsNaN(r.values[col]) {
			continue
		}
		switch v := finite(d.record(longest)); {
		case math.IsNaN(v):
		case d.Better == Larger:
			m.below[col], m.above[col] = v, unbounded
		default:
			m.above[col] = v
		}
	}
}

// widen extends the range of a column to include a value. A missing value is a rate over no time.
func (m *margins) widen(col int, stated, v float64) {
	if math.IsNaN(v) {
		v = unbounded
	}
	below, above := stated-v, v-stated
	if stated-below > v { // a difference is rounded: next to a rate of billions, by more than the precision of the lower end
		below = math.Nextafter(below, math.Inf(1))
	}
	if stated+above < v {
		above = math.Nextafter(above, math.Inf(1))
	}
	m.below[col] = max(m.below[col], below)
	m.above[col] = max(m.above[col], above)
}

// goodEnds returns two values, 0 or 1. least is 1 if the request meets every objective at all ends of its instants. most is 1 if it meets each one at
// some end.
func (r *Row) goodEnds(extremes []requestFacts) (least, most float64) {
	least, most = 1, 1
	for _, g := range r.set.goals {
		stated, _ := r.Value(g.Metric.Tag)
		always, ever := g.met(stated), g.met(stated)
		for _, f := range extremes {
			v := finite(g.Metric.record(&f))
			met, noTime := g.met(v), math.IsNaN(v) // a rate over no time may be any rate, or none
			always, ever = always && met, ever || met || noTime
		}
		if !always {
			least = 0
		}
		if !ever {
			most = 0
		}
	}
	return least, most
}

// lateness returns by how many ns each content message may have arrived before its timestamp; nil = all are exact.
func (f *requestFacts) lateness() []float64 {
	if f.reply == nil {
		return nil
	}
	var late []float64
	for i := range f.reply.Contents {
		by := messageOf(f.rec, &f.reply.Contents[i]).UncertainNs
		if by <= 0 {
			continue
		}
		if late == nil {
			late = make([]float64, len(f.reply.Contents))
		}
		late[i] = float64(by)
	}
	return late
}

// sendDelay returns by how many ns the request may have been sent later than its start.
func (f *requestFacts) sendDelay() int64 {
	if f.rec.Trace == nil {
		return 0
	}
	return f.rec.Trace.SendUncertainNs
}

// extremes returns the facts with instants at the ends of their ranges: everything as early as possible after the latest start, only the first
// message early, and all but the first early. Messages keep their order. The last two are for times between messages. Those do not depend on
// the start, so their messages may come as early as the earliest start.
func (f *requestFacts) extremes(late []float64, send int64) []requestFacts {
	early := *f
	early.start += send
	early.end = f.earliestEnd(early.last)
	if late == nil {
		return []requestFacts{early}
	}
	at := func(i int) int64 { return max(f.reply.Contents[i].At-int64(late[i]), f.start) }
	last := len(late) - 1
	early.first, early.last = max(at(0), early.start), max(at(last), at(0), early.start)
	early.end = f.earliestEnd(early.last)
	if f.several {
		early.second = max(at(1), early.first)
	}
	for i := range f.reply.Contents {
		if f.reply.Contents[i].Visible() {
			early.seen = max(at(i), early.first)
			break
		}
	}
	long, short := *f, *f
	long.first = at(0)
	long.measured = long.last > long.first
	if f.several {
		short.second = max(at(1), f.first)
	}
	short.last = max(at(last), f.first)
	short.end = f.earliestEnd(short.last)
	return []requestFacts{early, long, short}
}

// earliestEnd returns the earliest end of an answer whose last content arrived at an instant: that instant, or the earliest one of a later message
// without content.
func (f *requestFacts) earliestEnd(last int64) int64 {
	if f.end <= f.last {
		return last
	}
	end := f.end
	if i := f.reply.EndMessage; i < len(f.rec.Messages) {
		end -= f.rec.Messages[i].UncertainNs
	}
	return max(end, last)
}

// marginColumns holds the margins of all rows. A column that was never needed is empty.
type marginColumns struct {
	below, above []stats.Column // by column of the selection
	late         stats.Column   // ns, for the message that ends a gap: one per gap
	firstLate    stats.Column   // ns, for the first message of a row
}

func newMarginColumns(columns int) marginColumns {
	return marginColumns{below: make([]stats.Column, columns), above: make([]stats.Column, columns)}
}

// add appends the margins of a row; row and gap are the numbers of rows and gaps before it.
func (c *marginColumns) add(m *margins, row, gap int, gaps int) {
	if m == nil {
		return
	}
	put := func(column *stats.Column, at int, v float64) {
		column.Pad(at, 0)
		column.Append(v)
	}
	for col := range m.below {
		if m.below[col] > 0 {
			put(&c.below[col], row, m.below[col])
		}
		if m.above[col] > 0 {
			put(&c.above[col], row, m.above[col])
		}
	}
	if m.late == nil {
		return
	}
	put(&c.firstLate, row, m.late[0])
	for i := 1; i < len(m.late) && i <= gaps; i++ {
		if m.late[i] > 0 {
			put(&c.late, gap+i-1, m.late[i])
		}
	}
}

// bounds returns the ranges of every statistic of a summary, from the margins of its requests:
//   - order statistics lie between those of the lowest and of the highest values, and so do sums and means;
//   - the sum of the gaps of an answer depends only on its first and last message;
//   - a standard deviation differs from that of the midpoints by at most the root mean square of half the widths (triangle inequality).
func (r *Reducer) bounds(t *totals) Bounds {
	b := Bounds{}
	var low, high []float64 // shared by the columns, because they are long
	for col, pos := range r.set.columns {
		if m := &table[pos]; m.record != nil && r.inexact(col) {
			if low, high = r.endsOf(col, low[:0], high[:0]); len(low) > 0 {
				r.boundColumn(b, m, col, low, high)
			}
		}
	}
	r.boundGaps(b)
	r.boundTotals(b, t)
	return b
}

// boundColumn bounds the statistics of a metric with one value per request, between low[i] and high[i]. It reorders both. Answers whose value is missing
// may have one like the others, or none.
func (r *Reducer) boundColumn(b Bounds, m *Metric, col int, low, high []float64) {
	least, most := ends(low, high, m.Factor())
	if moreLow, moreHigh := r.missing(col, m, low, high); len(moreLow) > 0 {
		from, to := ends(slices.Concat(low, moreLow), slices.Concat(high, moreHigh), m.Factor())
		for s := Avg; s < Stats; s++ {
			if s != Count { // of the values that were measured
				least[s], most[s] = min(least[s], from[s]), max(most[s], to[s])
			}
		}
	}
	b.statistics(m.Tag, &least, &most)
	if failed := r.counts[Failed]; m.Flags&Adjusted != 0 && failed > 0 {
		for i := range table {
			if a := &table[i]; a.Kind == Adjustment && a.base == m.Tag && r.set.use[i] {
				b.statistics(a.Tag, adjust(low, failed, m.Factor()), adjust(high, failed, m.Factor()))
			}
		}
	}
}

// missing returns the ranges of the values that are missing because the client read all messages of an answer together, if such an answer may be like the
// others: its value may be at least half of their median, or at most twice of it if larger values are better. Otherwise its messages certainly came
// together, and it has no value. low and high are the values of the others.
func (r *Reducer) missing(col int, m *Metric, low, high []float64) (lows, highs []float64) {
	c := &r.margins
	values, below, above := r.values[col].Cursor(), padded(&c.below[col]), padded(&c.above[col])
	usual := math.NaN()
	for range r.rows {
		v, least, most := values.Next(), below(), above()
		if !math.IsNaN(v) || most == 0 {
			continue
		}
		if math.IsNaN(usual) {
			from, to := stats.Describe(slices.Clone(low)), stats.Describe(slices.Clone(high))
			usual = (from.P[P50-P1] + to.P[P50-P1]) / 2
		}
		if m.Better == Larger && least <= 2*usual || m.Better != Larger && most >= usual/2 {
			lows, highs = append(lows, least), append(highs, most)
		}
	}
	return lows, highs
}

// inexact reports whether a value of a column is not exact.
func (r *Reducer) inexact(col int) bool {
	return r.margins.below[col].Len() > 0 || r.margins.above[col].Len() > 0
}

// endsOf appends the lowest and the highest values of a column, without absent ones.
func (r *Reducer) endsOf(col int, low, high []float64) (lows, highs []float64) {
	c := &r.margins
	low, high = slices.Grow(low, r.values[col].Len()), slices.Grow(high, r.values[col].Len())
	values, below, above := r.values[col].Cursor(), padded(&c.below[col]), padded(&c.above[col])
	for range r.rows {
		v, by, to := values.Next(), below(), above()
		if !math.IsNaN(v) {
			low, high = append(low, v-by), append(high, v+to)
		}
	}
	return low, high
}

// padded returns a reader of a column that may be shorter than its rows. It returns 0 after the end.
func padded(c *stats.Column) func() float64 {
	cursor := c.Cursor()
	return func() float64 {
		if v := cursor.Next(); !math.IsNaN(v) {
			return v
		}
		return 0
	}
}

// ends returns the least and the largest statistics of values between low[i] and high[i]. It reorders both.
func ends(low, high []float64, factor float64) (least, most [Stats]float64) {
	centre, spread := deviations(func(yield func(low, high float64) bool) {
		for i := range low {
			if !yield(low[i], high[i]) {
				return
			}
		}
	})
	from, to := stats.Describe(low), stats.Describe(high)
	return statisticsOf(&from, &to, centre, spread, factor)
}

// statisticsOf bounds the statistics of values by those of their lowest and highest values. centre is the standard deviation of the midpoints, spread
// the root mean square of half the widths.
func statisticsOf(low, high *stats.Distribution, centre, spread, factor float64) (least, most [Stats]float64) {
	least, most = distribution(low, factor), distribution(high, factor)
	least[Std], most[Std] = max(0, centre-spread)/factor, (centre+spread)/factor
	if !(centre+spread < limitless) { // also true for NaN, because the squares of unbounded values overflow
		least[Std], most[Std] = 0, unbounded
	}
	return least, most
}

// deviations returns the standard deviation of the midpoints of ranges, and the root mean square of half their widths.
func deviations(ranges iter.Seq2[float64, float64]) (centre, spread float64) {
	var n, sum, squares, widths stats.Sum
	for low, high := range ranges {
		n.Add(1)
		sum.Add((low + high) / 2)
		widths.Add((high - low) / 2 * ((high - low) / 2))
	}
	mean := sum.Value() / n.Value()
	for low, high := range ranges {
		off := (low+high)/2 - mean
		squares.Add(off * off)
	}
	return math.Sqrt(squares.Value() / n.Value()), math.Sqrt(widths.Value() / n.Value())
}

// statistics stores the ranges between two sets of statistics.
func (b Bounds) statistics(tag string, least, most *[Stats]float64) {
	if least == nil || most == nil {
		return
	}
	for s := Avg; s < Stats; s++ {
		b.set(tag, s, least[s], most[s])
	}
}

// boundGaps bounds the statistics of single gaps.
func (r *Reducer) boundGaps(b Bounds) {
	c, n := &r.margins, r.gaps.Len()
	if !r.set.gaps || n == 0 || c.late.Len() == 0 && c.firstLate.Len() == 0 {
		return
	}
	const tag = "inter_chunk_latency"
	factor := table[index[tag]].Factor()
	low := stats.DescribeSeq(func(yield func(float64) bool) {
		for v := range r.gapEnds {
			if !yield(v) {
				return
			}
		}
	}, n)
	high := stats.DescribeSeq(func(yield func(float64) bool) {
		for _, v := range r.gapEnds {
			if !yield(v) {
				return
			}
		}
	}, n)
	centre, spread := deviations(r.gapEnds)
	least, most := statisticsOf(&low, &high, centre, spread, factor)
	b.statistics(tag, &least, &most)
	shortest, longest := r.gapSums()
	delete(b[tag], Avg)
	delete(b[tag], Sum)
	b.set(tag, Avg, max(0, shortest)/(float64(n)*factor), longest/(float64(n)*factor))
	b.set(tag, Sum, max(0, shortest)/factor, longest/factor)
}

// gapEnds reads the shortest and the longest time that each gap may have taken. A gap may start as much earlier as the message before it, and end as much
// earlier as its own message.
func (r *Reducer) gapEnds(yield func(low, high float64) bool) {
	gaps, lens, late, first := r.gaps.Cursor(), r.lens.Cursor(), padded(&r.margins.late), padded(&r.margins.firstLate)
	for range r.rows {
		before := first()
		for range int(lens.Next()) {
			g, own := gaps.Next(), late()
			if !yield(max(0, g-own), g+before) {
				return
			}
			before = own
		}
	}
}

// gapSums returns the shortest and the longest sum of all gaps. The gaps of an answer last from its first to its last message, however late those
// between were read.
func (r *Reducer) gapSums() (shortest, longest float64) {
	gaps, lens, late, first := r.gaps.Cursor(), r.lens.Cursor(), padded(&r.margins.late), padded(&r.margins.firstLate)
	var short, long stats.Sum
	for range r.rows {
		before, n := first(), int(lens.Next())
		if n > 0 {
			long.Add(before)
		}
		for range n {
			g := gaps.Next()
			short.Add(g)
			long.Add(g)
			before = late()
		}
		if n > 0 {
			short.Add(-before)
		}
	}
	return short.Value(), long.Value()
}

// boundTotals bounds the values of the whole run: its last answer may have ended earlier, and some requests may or may not be good.
func (r *Reducer) boundTotals(b Bounds, stated *totals) {
	for _, response := range []int64{stated.response, r.earliestResponse(stated.response)} {
		for _, good := range r.goodCounts() {
			t := *stated
			t.response, t.computed, t.dist = response, map[string]float64{}, slices.Clone(stated.dist)
			if r.set.good >= 0 {
				t.dist[r.set.columns[r.set.good]].Sum = good
			}
			for i := range table {
				if m := &table[i]; m.derive != nil && r.set.use[i] {
					b.include(m, stated.get(m.Tag)/m.Factor(), t.get(m.Tag)/m.Factor())
				}
			}
		}
	}
}

// include extends the range of a metric's stated average to include a value. A missing value is that of a run that took no time.
func (b Bounds) include(m *Metric, stated, v float64) {
	switch {
	case math.IsNaN(stated):
		return
	case math.IsNaN(v) && m.Better == Larger:
		v = unbounded
	case math.IsNaN(v):
		v = 0
	}
	old := b.Of(m.Tag, Avg, stated)
	b.set(m.Tag, Avg, min(old.Low, v), max(old.High, v))
}

// earliestResponse returns the earliest wall instant at which the last content of all valid requests may have arrived; last is the stated one.
func (r *Reducer) earliestResponse(last int64) int64 {
	col := r.set.slot[index["request_latency"]]
	if col < 0 || r.margins.below[col].Len() == 0 {
		return last
	}
	start, values, below := r.start.Cursor(), r.values[col].Cursor(), padded(&r.margins.below[col])
	earliest := int64(0)
	for range r.rows {
		began, took, by := start.Next(), values.Next(), below()
		if !math.IsNaN(took) { // a valid request
			earliest = max(earliest, r.base+int64(began)+int64(took-by))
		}
	}
	return earliest
}

// goodCounts returns the minimum and the maximum number of good requests.
func (r *Reducer) goodCounts() []float64 {
	if r.set.good < 0 {
		return []float64{0}
	}
	if r.inexact(r.set.good) {
		low, high := r.endsOf(r.set.good, nil, nil)
		return []float64{stats.Total(low), stats.Total(high)}
	}
	return []float64{stats.Total(r.known("good_request_count"))}
}
