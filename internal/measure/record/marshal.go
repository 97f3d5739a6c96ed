package record

import "aiperf/internal/base/binenc"

// layout is the version of the binary form of a record; other versions are rejected.
const layout = 3

// Append appends the binary form of the record to dst, without its release function. It unpacks the messages.
func (r *Record) Append(dst []byte) []byte {
	Unpack(r.Messages)
	c := binenc.NewWriter(dst)
	r.visit(c)
	return c.Bytes()
}

// Read fills the record from the binary form. Its byte slices share memory with b.
func (r *Record) Read(b []byte) error {
	c := binenc.NewReader(b)
	r.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the record", len(c.Bytes()))
	}
	return c.Err()
}

// visit encodes or decodes every field in turn.
func (r *Record) visit(c *binenc.Coder) {
	version := layout
	if c.Int(&version); c.Err() == nil && version != layout {
		c.Fail("a record of layout %d; this program reads %d", version, layout)
		return
	}
	r.Meta.Visit(c)
	for _, at := range []*int64{&r.WallOffset, &r.ClockOffset, &r.Intended, &r.Issued, &r.Start, &r.Ack, &r.End, &r.CancelledAt} {
		c.Int64(at)
	}
	c.String(&r.Cut)
	c.Int(&r.Status)
	binenc.Slice(c, &r.RequestHeaders, visitHeader)
	binenc.Slice(c, &r.ResponseHeaders, visitHeader)
	binenc.Slice(c, &r.Payload.ranges, (*binenc.Coder).ByteSlice)
	binenc.Slice(c, &r.Messages, visitMessage)
	binenc.Slice(c, &r.Exchanges, visitExchange)
	binenc.Pointer(c, &r.Error, VisitError)
	binenc.Pointer(c, &r.Trace, visitTrace)
}

// Visit encodes or decodes the facts about a request.
func (m *Meta) Visit(c *binenc.Coder) {
	c.Int64(&m.SessionNum)
	for _, text := range []*string{&m.BenchmarkID, &m.RequestID, &m.CorrelationID, &m.ParentID, &m.RootID, &m.ConversationID, &m.Model, &m.WorkerID, &m.ProcessorID, &m.PhaseName} {
		c.String(text)
	}
	for _, n := range []*int{&m.Depth, &m.TurnIndex, &m.URLIndex, &m.PhaseIndex, &m.ProfilingIndex, &m.MaxTokens} {
		c.Int(n)
	}
	c.Bool(&m.Warmup)
	c.Bool(&m.LengthInBody)
	binenc.Pointer(c, &m.TurnTimestamp, (*binenc.Coder).Float64)
	c.Float64(&m.AudioSeconds)
}

func visitHeader(c *binenc.Coder, h *Header) {
	c.String(&h.Name)
	c.String(&h.Value)
}

func visitMessage(c *binenc.Coder, m *Message) {
	c.Int64(&m.At)
	c.Int64(&m.UncertainNs)
	c.Byte((*byte)(&m.Clock))
	c.Bool(&m.Body)
	c.Bool(&m.Line)
	c.Bool(&m.Shared)
	c.ByteSlice(&m.Raw)
	binenc.Pointer(c, &m.Details, visitDetails)
}

func visitDetails(c *binenc.Coder, d *Details) {
	binenc.Slice(c, &d.Fields, func(c *binenc.Coder, f *Field) {
		c.String(&f.Name)
		c.String(&f.Value)
	})
	c.String(&d.ContentType)
	c.Int(&d.Size)
}

func visitExchange(c *binenc.Coder, x *Exchange) {
	c.String(&x.Method)
	c.String(&x.URL)
	for _, at := range []*int64{&x.Start, &x.Ack, &x.End} {
		c.Int64(at)
	}
	c.Int(&x.Status)
	c.Int(&x.Bytes)
}

// VisitError encodes or decodes an error.
func VisitError(c *binenc.Coder, e *Error) {
	c.Int(&e.Code)
	c.String(&e.Type)
	c.String(&e.Message)
	c.String(&e.Cause)
	binenc.Slice(c, &e.Chain, (*binenc.Coder).String)
	c.Bool(&e.Local)
}

func visitTrace(c *binenc.Coder, t *Trace) {
	for _, at := range t.instants() {
		c.Int64(at)
	}
	for _, d := range []*int64{&t.ReadDelaySum, &t.ReadDelayMax, &t.LastByteDelayMax, &t.FirstUncertainNs, &t.GapUncertainNs, &t.SendUncertainNs, &t.EndUncertainNs, &t.AnswerEnd, &t.SpanNs} {
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
