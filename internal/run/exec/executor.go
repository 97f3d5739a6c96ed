// Package exec executes the requests of a load: it encodes turns, sends them, and reads as much of the answers as the load needs.
package exec

import (
	"context"
	"errors"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/watch"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/framing"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/load"
)

// Executor executes requests: it encodes turns, sends them, and reads as much of the answers as the load needs. It stores what later turns need of an
// answer and passes the finished records on.
type Executor struct {
	data        *inputs.PreparedStore
	Inputs      *inputs.FileWriter  // writer of inputs.json; nil = there is no such file
	CacheBuster *inputs.CacheBuster // adds markers to sessions; nil = sessions get none
	codec       endpoint.Codec
	headers     transport.HeaderSet
	framing     framing.Format // of answers that stream; nil = server-sent events
	carrier     connection.Client
	addresses   *connection.Addresses
	model       string               // model of turns that name none
	put         func(*record.Record) // passes on a finished record
	gate        recordGate
	flights     FlightObserver       // nil = no observer
	stalls      *watch.StallDetector // nil = servers are not watched for stalls
	watcher     watch.Watcher        // nil = no watcher
	timeout     time.Duration        // limit for all follow-ups of a request together; 0 = none

	// dialLate connects when the request is due instead of before it: if every request has its own connection, the time to connect is part of the
	// measurement.
	dialLate bool
	sticky   bool
	// lengthInBody is true if bodies may limit the output themselves: a template makes them, or the extra inputs contain a limit.
	lengthInBody bool
	overflow     func(*record.Error) bool // reports whether an error means that the prompt is too long; nil = not needed
	firstToken   bool                     // decode while streaming, to detect the first content
	replies      bool                     // answers become part of the history
	followsUp    bool                     // answers may require further requests
	noLength     bool                     // bodies hold no output length
	worker       string
	processor    string
}

var _ load.Executor = (*Executor)(nil)

// FlightObserver is notified when a request is sent and when it ends (clock.Heartbeat).
type FlightObserver interface {
	Enter()
	Leave()
}

// session is the state of a running session. Its turns never overlap.
type session struct {
	conversation *conversation.Conversation
	first        *endpoint.Request // encoded first turn, if it is already known
	replies      []endpoint.Memory // what later turns need of the answers, by turn
	inherited    *endpoint.History // history before the first turn of a fork; nil = none
	marked       bool              // the conversation belongs to this session only
	from         int               // index of its first turn
}

func (e *Executor) session(s *load.Session, warmup bool) *session {
	if s.State == nil {
		stored := e.data.Get(s.Conversation)
		ses := &session{conversation: stored.Conversation, first: stored.First, from: s.From}
		if marked := e.CacheBuster.MarkSession(s, warmup, ses.conversation); marked != ses.conversation {
			ses.conversation, ses.first, ses.marked = marked, nil, true
		}
		ses.replies = make([]endpoint.Memory, s.Turns) // the length is fixed: forks read the list while later turns write to it
		if s.Fork {
			parent := e.session(s.Parent, warmup)
			ses.inherited = parent.before(s.ParentTurn + 1)
			ses.first = nil // it was encoded without the inherited history
		}
		s.State = ses
	}
	return s.State.(*session)
}

// before returns the history of a turn, including that of the sessions from which this one was forked.
func (s *session) before(turn int) *endpoint.History {
	h := endpoint.Before(s.conversation, turn, s.replies)
	if s.conversation.Live() && s.from > 0 && s.from <= len(h.Past) {
		h.Past = h.Past[s.from:] // turns that were never sent have no answer
	}
	if in := s.inherited; in != nil {
		h.System, h.UserContext, h.Past = in.System, in.UserContext, append(in.Past[:len(in.Past):len(in.Past)], h.Past...)
	}
	return h
}

// encode encodes a turn as a request.
func (e *Executor) encode(ses *session, r *load.Request, id string) (endpoint.Request, error) {
	if r.Turn == 0 && ses.first != nil && !r.Phase.Primes {
		return *ses.first, nil
	}
	history := ses.before(r.Turn)
	history.RequestID = id
	turn := &ses.conversation.Turns[r.Turn]
	if r.Phase.Primes {
		turn = oneToken(turn)
	}
	req, err := e.codec.Encode(turn, history)
	if r.Turn == 0 && !r.Phase.Primes && ses.inherited == nil && err == nil && !req.SentOnce && !ses.marked {
		e.data.Keep(r.Session.Conversation, ses.conversation, &req)
		e.Inputs.Offer(r.Session.Conversation, ses.conversation, &req)
	}
	return req, err
}

// oneToken returns a turn that asks for an answer of one token.
func oneToken(t *conversation.Turn) *conversation.Turn {
	short := *t
	one := 1
	short.MaxTokens = &one
	return &short
}

// Prepare implements load.Executor.
func (e *Executor) Prepare(ctx context.Context, r *load.Request) load.ArmedRequest {
	ses := e.session(r.Session, r.Phase.Warmup)
	if ses.conversation.Turns[r.Turn].Silent {
		return silentTurn{}
	}
	a := &armedRequest{Executor: e, ctx: ctx, request: r, session: ses, id: rng.UUID()}
	req, err := e.encode(ses, r, a.id)
	if err == nil {
		a.wire.Target, err = e.addresses.Target(r.Session.URL, req.Path)
	}
	if a.formatError = err; err != nil {
		return a
	}
	a.wire.Method, a.wire.Body, a.wire.Framing = req.Method, req.Body, e.framing
	a.wire.Headers = e.headers.Build(transport.Identity{RequestID: a.id, CorrelationID: r.Session.ID, ContentType: req.ContentType,
		Extra: append(extraHeaders(a.turn()), req.Headers...)})
	a.wire.Session = r.Session.ID
	a.wire.LastTurn = r.Turn+1 >= r.Session.Turns
	a.wire.WarmUp = r.Phase.Warmup
	a.wire.Armed = !e.dialLate
	a.wire.Urgent = e.firstToken
	if !e.dialLate {
		a.exchange = e.carrier.Prepare(ctx, &a.wire)
	}
	return a
}

func extraHeaders(t *conversation.Turn) []record.Header {
	var list []record.Header
	for _, h := range t.ExtraHeaders {
		list = append(list, record.Header{Name: h.Name, Value: h.Value})
	}
	return list
}

// Close implements load.Executor.
func (e *Executor) Close(s *load.Session) {
	if e.sticky {
		e.carrier.CloseSession(s.ID)
	}
}

// silentTurn is a turn that sends nothing.
type silentTurn struct{}

// Fire implements load.ArmedRequest.
func (silentTurn) Fire(load.Issue) {}

// Wait implements load.ArmedRequest.
func (silentTurn) Wait(_ func(int64), ended func(load.Outcome)) { ended(load.Outcome{}) }

// Discard implements load.ArmedRequest.
func (silentTurn) Discard() {}

// armedRequest is a request that is ready to be sent when it is due.
type armedRequest struct {
	*Executor
	ctx         context.Context
	request     *load.Request
	session     *session
	id          string
	wire        transport.Request
	exchange    connection.Exchange
	reading     *endpoint.Reading // nil = the answer has not been decoded yet
	formatError error
	issue       load.Issue
	rec         *record.Record
	ended       func(load.Outcome) // called when the record is complete
}

var _ load.ArmedRequest = (*armedRequest)(nil)

func (a *armedRequest) turn() *conversation.Turn {
	return &a.session.conversation.Turns[a.request.Turn]
}

// clock returns the current time, for instants that no socket timestamps.
func (a *armedRequest) clock() int64 { return clock.Now() }

// Fire implements load.ArmedRequest.
func (a *armedRequest) Fire(issue load.Issue) {
	a.issue = issue
	if a.flights != nil {
		a.flights.Enter()
	}
	if a.stalls != nil {
		a.stalls.Enter()
	}
	if a.followed() {
		a.watcher.Sent(a.id, clock.Wall(issue.At))
	}
	if issue.CancelAfter >= 0 {
		a.wire.Cancel, a.wire.CancelAfter = true, issue.CancelAfter
	}
	if a.exchange != nil {
		a.exchange.Send()
	}
}

// Discard implements load.ArmedRequest.
func (a *armedRequest) Discard() {
	if a.exchange != nil {
		a.exchange.Drop()
	}
}

// followed reports whether the watcher follows this request.
func (a *armedRequest) followed() bool { return a.watcher != nil && !a.request.Phase.Warmup }

// Wait implements load.ArmedRequest.
func (a *armedRequest) Wait(firstToken func(at int64), ended func(load.Outcome)) {
	if a.followed() {
		firstToken = a.reportFirstToken(firstToken)
	}
	a.rec, a.ended = a.newRecord(), ended
	if a.formatError != nil {
		a.refuse(a.rec)
		a.complete()
		return
	}
	if a.exchange == nil {
		a.exchange = a.carrier.Prepare(a.ctx, &a.wire)
		a.exchange.Send()
	}
	a.exchange.ReceiveThen(a.rec, a.watch(firstToken), a.complete)
}

// complete sends the follow-ups of an answer, passes the record on and reports the outcome.
func (a *armedRequest) complete() {
	rec := a.rec
	if a.formatError == nil && a.followsUp {
		a.followUp(rec)
	}
	out := a.outcome(rec)
	a.storeReply(rec)
	if a.reading != nil {
		rec.Reading = a.reading
	}
	a.updateStalls(rec)
	if a.followed() {
		a.watcher.Ended(a.id, rec.End+rec.WallOffset)
	}
	a.put(rec)
	if a.flights != nil {
		a.flights.Leave()
	}
	a.ended(out)
}

// reportFirstToken returns a function that reports the first content to the watcher and then to the load.
func (a *armedRequest) reportFirstToken(firstToken func(at int64)) func(at int64) {
	return func(at int64) {
		a.watcher.First(a.id, clock.Wall(a.clock()))
		firstToken(at)
	}
}

// newRecord returns the record of the request, with its metadata. It is a separate function, and not inlined, because its large frame would otherwise
// stay on the stack of every request that waits.
//
//go:noinline
func (a *armedRequest) newRecord() *record.Record {
	rec := &record.Record{Intended: a.issue.Intended, Issued: a.issue.At, Counted: record.CountedText(a.turn().Counted)}
	p, t, m := a.request.Phase, a.turn(), &rec.Meta
	*m = record.Meta{
		SessionNum: a.issue.Number, RequestID: a.id, CorrelationID: a.request.Session.ID, ConversationID: a.session.conversation.ID,
		TurnIndex: a.request.Turn, Model: t.Model, URLIndex: a.request.Session.URL, WorkerID: a.worker, ProcessorID: a.processor,
		AudioSeconds: t.AudioSeconds(), Warmup: p.Warmup, PhaseIndex: p.Index, ProfilingIndex: p.Profiling, PhaseName: p.Name,
	}
	for s := a.request.Session; s.Parent != nil; s = s.Parent {
		if m.Depth++; m.Depth == 1 {
			m.ParentID = s.Parent.ID
		}
		m.RootID = s.Parent.ID
	}
	if m.Model == "" {
		m.Model = a.model
	}
	if t.MaxTokens != nil && !a.noLength {
		m.MaxTokens = *t.MaxTokens
	}
	if p.Primes {
		m.MaxTokens = 1
	}
	m.LengthInBody = a.lengthInBody || t.RawPayload != nil || t.ExtraBody != nil && endpoint.RequestedTokens(t.ExtraBody) > 0
	if p.Mode == load.FixedSchedule {
		m.TurnTimestamp = t.Timestamp
	}
	return rec
}

// read returns the decoder of the answer; it is created at the first call.
func (a *armedRequest) read() *endpoint.Reading {
	if a.reading == nil {
		a.reading = endpoint.NewReading(a.codec, a.needsReply())
	}
	return a.reading
}

// watch returns a function that inspects the messages of a stream when they arrive. It looks for the first content if anybody needs it, and for
// reported errors, which end the request. All other parsing happens later, in the pipeline.
func (a *armedRequest) watch(firstToken func(at int64)) transport.OnMessage {
	waiting, format := a.firstToken, framing.OrSSE(a.framing)
	return func(all []record.Message) *record.Error {
		if a.stalls != nil {
			a.stalls.Received(all[len(all)-1].At)
		}
		if waiting {
			content, failure := a.read().Content(all)
			if failure != nil {
				return failure
			}
			if content {
				waiting = false
				firstToken(all[len(all)-1].At)
			}
		}
		if last := &all[len(all)-1]; last.Body || !format.MayFail(last.Raw, last.Line) {
			return nil
		}
		return a.read().All(all)
	}
}

// updateStalls reports the end of a request to the stall detector.
func (a *armedRequest) updateStalls(rec *record.Record) {
	p := a.stalls
	if p == nil {
		return
	}
	if len(rec.Messages) > 0 {
		p.FirstWait(rec.Messages[0].At - rec.Start)
	} else if rec.Error != nil && rec.Cut == "" && rec.Error.Type != transport.ErrTimeout && a.formatError == nil {
		p.Received(rec.End) // an answer with an error status is an event, too
	}
	p.Leave()
}

// refuse fills the record of a request that could not be encoded: nothing was sent.
func (a *armedRequest) refuse(rec *record.Record) {
	rec.Start = a.issue.At
	rec.End = a.clock()
	rec.WallOffset = clock.Wall(rec.Start) - rec.Start
	class := "ValueError"
	var format *endpoint.FormatError
	if errors.As(a.formatError, &format) {
		class = format.Class
	}
	rec.Error = &record.Error{Type: class, Message: a.formatError.Error()}
}

// outcome returns how the request ended, and marks records of requests that the run itself cancelled.
func (a *armedRequest) outcome(rec *record.Record) load.Outcome {
	if rec.Error == nil {
		out := load.Outcome{Failed: a.read().Failed(rec), Sent: rec.Start, Arrived: rec.End, Connecting: connecting(rec)}
		if rec.Trace != nil {
			out.Unseen = rec.Trace.EndUncertainNs
		}
		return out
	}
	if rec.Cut != "" {
		rec.Error.Message = "Request cancelled: " + rec.Cut
		return load.Outcome{Failed: true, Cancelled: true, Sent: rec.Start, Connecting: connecting(rec)}
	}
	out := load.Outcome{Failed: true, Sent: rec.Start, Connecting: connecting(rec), NoConnection: noConnection(rec), Overflow: a.overflow != nil && a.overflow(rec.Error)}
	if t := rec.Trace; t != nil && t.AnswerEnd != 0 {
		out.Arrived, out.Unseen = t.AnswerEnd, t.EndUncertainNs
	}
	return out
}

// connecting returns how long a request waited for a connection before its start: for a free one if their number is limited, or for name resolution
// and the server.
func connecting(rec *record.Record) time.Duration {
	t := rec.Trace
	if t == nil {
		return 0
	}
	sum := int64(0)
	for _, span := range [][2]int64{{t.PoolWaitStart, t.PoolWaitEnd}, {t.DNSStart, t.DNSEnd}, {t.ConnectStart, t.ConnectEnd}} {
		if span[0] != 0 {
			sum += max(0, min(span[1], rec.Start)-span[0])
		}
	}
	return time.Duration(sum)
}

// noConnection reports whether a request failed because the server could not be reached. Local limits of this machine do not count.
func noConnection(rec *record.Record) bool {
	switch e := rec.Error; e.Type {
	case transport.ErrDNS, transport.ErrConnect, transport.ErrTLS, transport.ErrCertificate:
		return !e.Local
	case transport.ErrTimeout:
		return rec.Trace != nil && rec.Trace.ConnectStart != 0 && rec.Trace.ConnectEnd == 0
	}
	return false
}

// needsReply reports whether a later turn of the session, or of a fork of it, sends the answer again.
func (a *armedRequest) needsReply() bool {
	s, turn := a.request.Session, a.request.Turn
	return a.replies && (turn+1 < s.Turns || s.Shape.Forks(turn)) && a.session.conversation.Live()
}

// storeReply stores what later turns need of the answer.
func (a *armedRequest) storeReply(rec *record.Record) {
	if a.needsReply() {
		a.session.replies[a.request.Turn] = a.read().Memory(rec)
	}
}

// RoundTrip sends a request outside the load to the server with the index url and waits for the answer. The caller releases the record. An error means
// that nothing was sent.
func (e *Executor) RoundTrip(ctx context.Context, over connection.Client, url int, req *endpoint.Request) (*record.Record, error) {
	target, err := e.addresses.Target(url, req.Path)
	if err != nil {
		return nil, err
	}
	return e.RoundTripTo(ctx, over, target, req), nil
}

// RoundTripTo sends a request outside the load to a target, ignoring its path, and waits for the answer. The caller releases the record.
func (e *Executor) RoundTripTo(ctx context.Context, over connection.Client, target *transport.Target, req *endpoint.Request) *record.Record {
	id := rng.UUID()
	rec := new(record.Record)
	x := over.Prepare(ctx, &transport.Request{Target: target, Method: req.Method, Body: req.Body, WarmUp: true, Session: id, LastTurn: true, Framing: e.framing,
		Headers: e.headers.Build(transport.Identity{RequestID: id, CorrelationID: id, ContentType: req.ContentType, Extra: req.Headers})})
	x.Send()
	x.Receive(rec, nil)
	return rec
}
