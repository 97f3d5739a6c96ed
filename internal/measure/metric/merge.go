package metric

import (
	"errors"
	"math"
	"slices"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// reducerLayout is the version of the binary form of a reducer; other versions are rejected.
const reducerLayout = 4

// errOtherMetrics reports reducers of different metrics, which cannot be merged.
var errOtherMetrics = errors.New("the requests were reduced by other metrics")

// Merge appends the rows of another reducer of the same metrics. The other reducer may be used afterwards.
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
		if o.values[i].Len() > 0 { // columns of metrics without values stay empty
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

// tags returns the names of the columns.
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

// Append appends the binary form of the reducer to dst, so that it can be merged elsewhere or later.
func (r *Reducer) Append(dst []byte) []byte {
	c := binenc.NewWriter(dst)
	r.visit(c)
	return c.Bytes()
}

// Read fills an empty reducer of the same metrics from the binary form.
func (r *Reducer) Read(b []byte) error {
	c := binenc.NewReader(b)
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

// visit encodes or decodes the binary form: the layout, the names of the columns, the numbers, the columns, the errors.
func (r *Reducer) visit(c *binenc.Coder) {
	version := reducerLayout
	if c.Int(&version); c.Err() == nil && version != reducerLayout {
		c.Fail("a reducer of layout %d; this program reads %d", version, reducerLayout)
	}
	tags := r.tags()
	if binenc.Slice(c, &tags, (*binenc.Coder).String); c.Err() == nil && !slices.Equal(tags, r.tags()) {
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
	binenc.Slice(c, &r.drafts, (*binenc.Coder).Int64)
	binenc.Slice(c, &r.order, func(c *binenc.Coder, g **ErrorGroup) {
		if c.Reading() {
			*g = new(ErrorGroup)
		}
		record.VisitError(c, &(*g).Error)
		c.Int64(&(*g).Count)
	})
	if c.Reading() && c.Err() == nil && !r.checkColumns() {
		c.Fail("the columns of a reducer do not fit its %d rows", r.rows)
	}
}

// checkColumns reports whether all columns have the same number of rows, and the number of gaps equals the sum over all rows.
func (r *Reducer) checkColumns() bool {
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
	return gaps == float64(r.gaps.Len()) && r.margins.fitsRows(r.rows, r.gaps.Len())
}
