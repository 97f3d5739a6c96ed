package metric

import (
	"errors"
	"math"
	"slices"

	"aiperf/internal/marshal"
	"aiperf/internal/record"
	"aiperf/internal/stats"
)

// reducerLayout is the version of the binary form of a reducer; another one is refused.
const reducerLayout = 4

// errOtherMetrics is the refusal to put together what was reduced by different metrics.
var errOtherMetrics = errors.New("the requests were reduced by other metrics")

// Merge takes in what another reducer of the same metrics holds, as if its rows had been added after those of this one. The other may be
// used afterwards.
func (r *Reducer) Merge(o *Reducer) error {
	if !slices.Equal(r.tags(), o.tags()) {
		return errOtherMetrics
	}
	for class, n := range o.counts {
		r.counts[class] += n
	}
	if o.rows == 0 {
		return nil
	}
	if r.rows == 0 {
		r.base, r.firstStart, r.lastEnd = o.base, o.firstStart, o.lastEnd
	}
	r.firstStart, r.lastEnd = min(r.firstStart, o.firstStart), max(r.lastEnd, o.lastEnd)
	if o.firstIssued != 0 && (r.firstIssued == 0 || o.firstIssued < r.firstIssued) {
		r.firstIssued = o.firstIssued
	}
	start, shift := o.start.Cursor(), float64(o.base-r.base)
	for range o.rows {
		r.start.Append(start.Next() + shift)
	}
	for i := range o.values {
		if o.values[i].Len() > 0 { // columns of metrics that never occur stay empty
			r.values[i].Pad(r.rows, absent())
			r.values[i].AppendAll(o.values[i])
		}
	}
	r.margins.merge(&o.margins, r.rows, r.gaps.Len())
	for _, pair := range [][2]*stats.Column{{&r.class, &o.class}, {&r.end, &o.end}, {&r.lens, &o.lens}, {&r.gaps, &o.gaps}, {&r.overflow, &o.overflow}} {
		pair[0].AppendAll(pair[1])
	}
	r.doubts.merge(&o.doubts)
	for _, g := range o.order {
		r.failed(&g.Error, g.Count)
	}
	r.oneMessage += o.oneMessage
	r.uncounted += o.uncounted
	r.reads += o.reads
	r.readDelay += o.readDelay
	r.sharedReads += o.sharedReads
	r.remotePaths += o.remotePaths
	r.lumps.merge(&o.lumps)
	r.drafts = pooled(r.drafts, o.drafts)
	r.rows += o.rows
	return nil
}

// tags name the columns.
func (r *Reducer) tags() []string {
	list := make([]string, len(r.set.columns))
	for i, pos := range r.set.columns {
		list[i] = table[pos].Tag
	}
	if r.set.gaps {
		list = append(list, "gaps")
	}
	return list
}

// Append writes the reducer behind dst, so that it can be merged elsewhere or later.
func (r *Reducer) Append(dst []byte) []byte {
	c := marshal.NewWriter(dst)
	r.visit(c)
	return c.Bytes()
}

// Read fills an empty reducer from what Append wrote of one with the same metrics.
func (r *Reducer) Read(b []byte) error {
	c := marshal.NewReader(b)
	r.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the reducer", len(c.Bytes()))
	}
	if c.Err() != nil {
		return c.Err()
	}
	for _, g := range r.order {
		r.errors[errorKey{g.Error.Code, g.Error.Type, g.Error.Message}] = g
	}
	return nil
}

// visit is the binary form: the layout, the names of the columns, the numbers, the columns, the errors.
func (r *Reducer) visit(c *marshal.Coder) {
	version := reducerLayout
	if c.Int(&version); c.Err() == nil && version != reducerLayout {
		c.Fail("a reducer of layout %d; this program reads %d", version, reducerLayout)
	}
	tags := r.tags()
	if marshal.Slice(c, &tags, (*marshal.Coder).String); c.Err() == nil && !slices.Equal(tags, r.tags()) {
		c.Fail("%v", errOtherMetrics)
	}
	if c.Err() != nil {
		return
	}
	c.Int(&r.rows)
	for _, n := range []*int64{
		&r.base, &r.counts[Valid], &r.counts[Failed], &r.counts[Cut], &r.oneMessage, &r.uncounted, &r.firstIssued, &r.firstStart, &r.lastEnd,
		&r.reads, &r.readDelay, &r.sharedReads, &r.remotePaths,
	} {
		c.Int64(n)
	}
	for _, column := range []*stats.Column{&r.class, &r.start, &r.end, &r.lens, &r.gaps, &r.overflow} {
		column.Visit(c)
	}
	for _, column := range r.values {
		column.Visit(c)
	}
	r.doubts.visit(c)
	r.lumps.visit(c)
	r.margins.visit(c)
	marshal.Slice(c, &r.drafts, (*marshal.Coder).Int64)
	marshal.Slice(c, &r.order, func(c *marshal.Coder, g **ErrorGroup) {
		if c.Reading() {
			*g = new(ErrorGroup)
		}
		record.VisitError(c, &(*g).Error)
		c.Int64(&(*g).Count)
	})
	if c.Reading() && c.Err() == nil && !r.sound() {
		c.Fail("the columns of a reducer do not fit its %d rows", r.rows)
	}
}

// sound tells whether the columns are of one number of rows, and the gaps of all rows as many as there are.
func (r *Reducer) sound() bool {
	for _, c := range []*stats.Column{&r.class, &r.start, &r.end, &r.overflow, &r.doubts.wrong} {
		if c.Len() != r.rows {
			return false
		}
	}
	gaps, lens := 0.0, r.lens.Cursor()
	for range r.lens.Len() {
		n := lens.Next()
		if !(n >= 0) || n != math.Trunc(n) {
			return false
		}
		gaps += n
	}
	return gaps == float64(r.gaps.Len()) && r.margins.sound(r.rows, r.gaps.Len())
}
