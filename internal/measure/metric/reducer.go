package metric

import (
	"math"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// Reducer collects the rows of one phase kind (profiling or warm-up) as columns. It is not safe for concurrent use. Rows may come in any order. A
// request takes about 100 bytes, a gap between messages 4.
type Reducer struct {
	set  *Selection
	rows int
	base int64 // wall instant of the first row's start; origin of the start column

	class  stats.Column // Valid or Failed
	start  stats.Column // ns from base
	end    stats.Column // ns from the row's start
	values []*stats.Column
	lens   stats.Column // gaps per row
	gaps   stats.Column // ns
	doubts uncertainties

	margins marginColumns

	counts      [3]int64 // by class
	unanswered  [giveUps][]unansweredWait
	oneMessage  int64
	answers     AnswerUse
	uncounted   int64
	overflow    stats.Column // 1 if the error means that the context was exceeded
	errors      map[errorKey]*ErrorGroup
	order       []*ErrorGroup
	firstIssued int64
	firstStart  int64
	lastEnd     int64
	reads       int64
	readDelay   int64
	sharedReads int64
	remotePaths int64
	lumps       lumpSums
	drafts      []int64 // verification steps by their number of accepted tokens
}

// errorKey identifies equal errors.
type errorKey struct {
	code          int
	kind, message string
}

// ErrorGroup is one kind of error and its count.
type ErrorGroup struct {
	Error record.Error
	Count int64
}

// NewReducer returns an empty reducer.
func (s *Selection) NewReducer() *Reducer {
	r := &Reducer{set: s, values: make([]*stats.Column, len(s.columns)), errors: map[errorKey]*ErrorGroup{}, margins: newMarginColumns(len(s.columns))}
	for i := range r.values {
		r.values[i] = new(stats.Column)
	}
	return r
}

// KeepIn puts the values of the reducer, which must be empty, into a store.
func (r *Reducer) KeepIn(s *stats.Store) {
	for _, c := range []*stats.Column{&r.class, &r.start, &r.end, &r.lens, &r.gaps, &r.overflow, &r.doubts.wrong, &r.margins.late, &r.margins.firstLate} {
		c.KeepIn(s)
	}
	for i, c := range r.values {
		c.KeepIn(s)
		r.margins.below[i].KeepIn(s)
		r.margins.above[i].KeepIn(s)
	}
}

// Add adds a row. The row may be used afterwards.
func (r *Reducer) Add(row *Row) {
	r.counts[row.Class]++
	if row.Class == Cut {
		r.gaveUp(atEnd, row.wait)
		return
	}
	if r.rows == 0 {
		r.base, r.firstStart, r.lastEnd = row.Start, row.Start, row.End
	}
	r.firstStart = min(r.firstStart, row.Start)
	r.lastEnd = max(r.lastEnd, row.End)
	if row.Issued != 0 && (r.firstIssued == 0 || row.Issued < r.firstIssued) {
		r.firstIssued = row.Issued
	}
	r.class.Append(float64(row.Class))
	r.start.Append(float64(row.Start - r.base))
	r.end.Append(float64(row.End - row.Start))
	for i, v := range row.values {
		if !math.IsNaN(v) { // columns of metrics without values stay empty
			r.values[i].Pad(r.rows, absent())
			r.values[i].Append(v)
		}
	}
	r.margins.add(row.margins, r.rows, r.gaps.Len(), len(row.Gaps))
	if r.set.gaps {
		r.lens.Append(float64(len(row.Gaps)))
		for _, g := range row.Gaps {
			r.gaps.Append(g)
		}
	}
	overflow := 0.0
	if row.Class == Failed {
		r.failed(row.Err, 1)
		switch {
		case timedOut(row.Err):
			r.gaveUp(atTimeout, row.wait)
		case row.wait != unansweredWait{}:
			r.gaveUp(asPlanned, row.wait)
		}
		if Overflows(row.Err) {
			overflow = 1
		}
	}
	r.overflow.Append(overflow)
	r.doubts.add(&row.doubt, row.Class == Valid)
	if row.Drafts != nil {
		r.drafts = pooled(r.drafts, row.Drafts.Buckets)
	}
	if row.Uncounted != "" {
		r.uncounted++
	}
	if row.OneMessage {
		r.oneMessage++
	}
	r.answers.add(row)
	r.reads += row.Reads
	r.readDelay += row.ReadDelay
	r.sharedReads += row.SharedReads
	r.lumps.add(row.lumps)
	if row.remote {
		r.remotePaths++
	}
	r.rows++
}

// maxErrorGroups is the maximum number of error groups, because servers put ids and times into their messages. Further errors are counted by code and
// type.
const maxErrorGroups = 1000

// otherMessages replaces the messages beyond the maximum.
const otherMessages = "(one of more than 1000 different messages)"

// failed counts n errors.
func (r *Reducer) failed(e *record.Error, n int64) {
	k := errorKey{e.Code, e.Type, e.Message}
	g := r.errors[k]
	if g == nil && len(r.order) >= maxErrorGroups {
		k.message = otherMessages
		g = r.errors[k]
	}
	if g == nil {
		g = &ErrorGroup{Error: *e}
		g.Error.Message = k.message
		r.errors[k] = g
		r.order = append(r.order, g)
	}
	g.Count += n
}

// Counts returns the number of valid, failed and stopped requests so far.
func (r *Reducer) Counts() (valid, failed, cut int64) {
	return r.counts[Valid], r.counts[Failed], r.counts[Cut]
}

// Window is a span of wall time in Unix ns.
type Window struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

// Span returns the window of the requests: from the first issue (or start) to the last end.
func (r *Reducer) Span() Window {
	from := r.firstStart
	if r.firstIssued != 0 {
		from = min(from, r.firstIssued)
	}
	return Window{from, r.lastEnd}
}
