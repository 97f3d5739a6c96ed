package metric

import (
	"math"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/record"
)

// rowLayout is the version of the binary form of a row; other versions are rejected.
const rowLayout = 5

// Append appends the binary form of the row to dst, so that the request can be counted elsewhere.
func (r *Row) Append(dst []byte) []byte {
	c := binenc.NewWriter(dst)
	r.visit(c)
	return c.Bytes()
}

// ReadRow reads the binary form of a row of the same metrics. The bytes may come from anybody.
func (s *Selection) ReadRow(b []byte) (*Row, error) {
	c, r := binenc.NewReader(b), &Row{set: s}
	r.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the row", len(c.Bytes()))
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return r, nil
}

func (r *Row) visit(c *binenc.Coder) {
	version := rowLayout
	if c.Int(&version); c.Err() == nil && version != rowLayout {
		c.Fail("a row of layout %d; this program reads %d", version, rowLayout)
		return
	}
	r.Meta.Visit(c)
	class := byte(r.Class)
	if c.Byte(&class); Class(class) > Cut {
		c.Fail("the class %d of a row is unknown", class)
	}
	r.Class = Class(class)
	binenc.Pointer(c, &r.Err, record.VisitError)
	for _, v := range []*int64{&r.Start, &r.End, &r.Issued, &r.Reads, &r.ReadDelay, &r.SharedReads, &r.Unreadable} {
		c.Int64(v)
	}
	binenc.Slice(c, &r.Gaps, (*binenc.Coder).Float64)
	c.Bool(&r.OneMessage)
	c.Bool(&r.Finished)
	c.Bool(&r.MoreChoices)
	c.Bool(&r.Alternating)
	c.Bool(&r.EarlyUsage)
	c.Bool(&r.Aborted)
	c.Bool(&r.MissingUsage)
	c.String(&r.Uncounted)
	binenc.Pointer(c, &r.Drafts, visitDrafts)
	r.doubt.visit(c)
	r.lumps.visit(c)
	c.Float64(&r.wait.answer)
	c.Float64(&r.wait.first)
	c.Bool(&r.remote)
	binenc.Pointer(c, &r.margins, visitMargins)
	visitValues(c, &r.values)
	if c.Reading() && c.Err() == nil {
		r.check(c)
	}
}

// check refuses a row that does not fit its metrics.
func (r *Row) check(c *binenc.Coder) {
	columns := len(r.set.columns)
	switch m := r.margins; {
	case len(r.values) != columns:
		c.Fail("the values of a row are those of other metrics")
	case m != nil && (len(m.below) != columns || len(m.above) != columns):
		c.Fail("the margins of a row do not fit its %d values", columns)
	case m != nil && m.late != nil && len(m.late) == 0:
		c.Fail("a row with the margins of no messages")
	case r.Class == Failed && r.Err == nil:
		c.Fail("a failed request without an error")
	}
}

// visitValues encodes or decodes the values of a row, of which many are absent.
func visitValues(c *binenc.Coder, values *[]float64) {
	binenc.Slice(c, values, func(c *binenc.Coder, v *float64) {
		there := !math.IsNaN(*v)
		if c.Bool(&there); there {
			c.Float64(v)
		} else {
			*v = absent()
		}
	})
}

func visitDrafts(c *binenc.Coder, d *record.Drafts) {
	for _, v := range []*int64{&d.Steps, &d.Accepted, &d.Proposed} {
		c.Int64(v)
	}
	binenc.Slice(c, &d.Buckets, (*binenc.Coder).Int64)
}

func (d *requestUncertainty) visit(c *binenc.Coder) {
	for _, v := range []*float64{&d.first, &d.send, &d.gap} {
		c.Float64(v)
	}
	for _, v := range []*bool{&d.firstWrong, &d.gapWrong, &d.oneLump} {
		c.Bool(v)
	}
	c.Int64(&d.packets)
	c.Int64(&d.shared)
}

func (n *lumpCount) visit(c *binenc.Coder) {
	for _, v := range []*int64{&n.events, &n.lumps, &n.inLumps} {
		c.Int64(v)
	}
	span := int64(n.span)
	c.Int64(&span)
	n.span = time.Duration(span)
	c.Bool(&n.isOneLump)
}

func visitMargins(c *binenc.Coder, m *margins) {
	for _, list := range []*[]float64{&m.below, &m.above, &m.late} {
		binenc.Slice(c, list, (*binenc.Coder).Float64)
	}
}
