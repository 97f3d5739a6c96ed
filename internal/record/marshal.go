package record

import "aiperf/internal/marshal"

// layout is the version of the binary form of a record; another one is refused.
const layout = 2

// Append writes the record behind dst, whole but for what releases it.
func (r *Record) Append(dst []byte) []byte {
	c := marshal.NewWriter(dst)
	r.visit(c)
	return c.Bytes()
}

// Read fills the record from what Append wrote. Byte slices are cut from b.
func (r *Record) Read(b []byte) error {
	c := marshal.NewReader(b)
	r.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the record", len(c.Bytes()))
	}
	return c.Err()
}

// visit is the binary form: every field in turn.
func (r *Record) visit(c *marshal.Coder) {
	version := layout
	if c.Int(&version); c.Err() == nil && version != layout {
		c.Fail("a record of layout %d; this program reads %d", version, layout)
		return
	}
	r.Meta.visit(c)
	for _, at := range []*int64{&r.WallOffset, &r.Intended, &r.Issued, &r.Start, &r.Ack, &r.End, &r.CancelledAt} {
		c.Int64(at)
	}
	c.String(&r.Cut)
	c.Int(&r.Status)
	marshal.Slice(c, &r.RequestHeaders, visitHeader)
	marshal.Slice(c, &r.ResponseHeaders, visitHeader)
	marshal.Slice(c, &r.Payload.ranges, (*marshal.Coder).ByteSlice)
	marshal.Slice(c, &r.Messages, visitMessage)
	marshal.Slice(c, &r.Exchanges, visitExchange)
	marshal.Pointer(c, &r.Error, VisitError)
	marshal.Pointer(c, &r.Trace, visitTrace)
}

func (m *Meta) visit(c *marshal.Coder) {
	c.Int64(&m.SessionNum)
	for _, text := range []*string{&m.BenchmarkID, &m.RequestID, &m.CorrelationID, &m.ParentID, &m.RootID, &m.ConversationID, &m.Model, &m.WorkerID, &m.ProcessorID, &m.PhaseName} {
		c.String(text)
	}
	for _, n := range []*int{&m.Depth, &m.TurnIndex, &m.URLIndex, &m.PhaseIndex, &m.ProfilingIndex, &m.MaxTokens} {
		c.Int(n)
	}
	c.Bool(&m.Warmup)
	c.Bool(&m.LengthInBody)
	marshal.Pointer(c, &m.TurnTimestamp, (*marshal.Coder).Float64)
	c.Float64(&m.AudioSeconds)
}

func visitHeader(c *marshal.Coder, h *Header) {
	c.String(&h.Name)
	c.String(&h.Value)
}

func visitMessage(c *marshal.Coder, m *Message) {
	c.Int64(&m.At)
	c.Int64(&m.UncertainNs)
	c.Byte((*byte)(&m.Clock))
	c.Bool(&m.Body)
	c.Bool(&m.Line)
	c.ByteSlice(&m.Raw)
	marshal.Slice(c, &m.Fields, func(c *marshal.Coder, f *Field) {
		c.String(&f.Name)
		c.String(&f.Value)
	})
	c.String(&m.ContentType)
	c.Int(&m.Size)
}

func visitExchange(c *marshal.Coder, x *Exchange) {
	c.String(&x.Method)
	c.String(&x.URL)
	for _, at := range []*int64{&x.Start, &x.Ack, &x.End} {
		c.Int64(at)
	}
	c.Int(&x.Status)
	c.Int(&x.Bytes)
}

// VisitError is the binary form of an error.
func VisitError(c *marshal.Coder, e *Error) {
	c.Int(&e.Code)
	c.String(&e.Type)
	c.String(&e.Message)
	c.String(&e.Cause)
	marshal.Slice(c, &e.Chain, (*marshal.Coder).String)
	c.Bool(&e.Local)
}

func visitTrace(c *marshal.Coder, t *Trace) {
	for _, at := range t.instants() {
		c.Int64(at)
	}
	for _, d := range []*int64{&t.ReadDelaySum, &t.ReadDelayMax, &t.LastByteDelayMax, &t.FirstUncertainNs, &t.GapUncertainNs, &t.SendUncertainNs, &t.SpanNs} {
		c.Int64(d)
	}
	c.Bool(&t.Spans)
	c.Bool(&t.Path.Known)
	c.Int64(&t.Path.SmoothedRTT)
	for _, n := range []*int{&t.ChunksSent, &t.BytesSent, &t.ChunksReceived, &t.BytesReceived, &t.LocalPort, &t.RemotePort, &t.Reads, &t.SharedReads, &t.Path.Window, &t.Path.Resent, &t.Path.Unordered} {
		c.Int(n)
	}
	for _, text := range []*string{&t.Host, &t.StatusReason, &t.LocalIP, &t.RemoteIP} {
		c.String(text)
	}
}
