package run

import (
	"context"
	"errors"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/conversation"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/record"
	"aiperf/internal/rng"
	"aiperf/internal/sse"
	"aiperf/internal/transport"
)

// executor carries requests out: it has turns put into words, sends them, has the answers read as far as the load needs it, remembers what
// they leave for the turns that follow, and hands the finished records on.
type executor struct {
	data      *prepared
	inputs    *listing // what goes into inputs.json; nil = there is none
	bust      *buster  // marks sessions; nil = they are not
	codec     endpoint.Codec
	headers   transport.HeaderSet
	carrier   carrier
	addresses *addresses
	model     string               // of turns that name none
	put       func(*record.Record) // the pipeline
	flights   flights              // nil = nobody asks
	pulse     *pulse               // nil = nobody watches the servers
	watcher   Watcher              // nil = nobody follows the requests
	timeout   time.Duration        // of the follow-ups of a request together; 0 = none

	// dialLate connects at the instant instead of before it: with a connection of its own for every request, connecting is part of
	// what is measured.
	dialLate bool
	sticky   bool
	// lengthInBody says that every body may limit its output by itself: a template makes it, or the extras of the run have a limit.
	lengthInBody bool
	overflow     func(*record.Error) bool // tells errors of prompts that are too long; nil = nobody asks
	firstToken   bool                     // somebody waits for first tokens: look for content while reading
	replies      bool                     // answers become part of the history
	followsUp    bool                     // answers may ask for further requests
	worker       string
	processor    string
}

var _ load.Executor = (*executor)(nil)

// flights is told of every request that is sent, and of its end (clock.Heartbeat).
type flights interface {
	Enter()
	Leave()
}

// session is the state of a running session. Its turns never overlap.
type session struct {
	conversation *conversation.Conversation
	first        *endpoint.Request // of the first turn, if it is known already
	replies      []endpoint.Memory // what the answers left, by turn
	inherited    *endpoint.History // what came before the first turn of a fork; nil = nothing
	marked       bool              // the conversation is that of this session alone
	from         int               // its first turn
}

func (e *executor) session(s *load.Session, warmup bool) *session {
	if s.State == nil {
		ses := e.data.session(s.Conversation)
		ses.from = s.From
		if marked := e.bust.mark(s, warmup, ses.conversation); marked != ses.conversation {
			ses.conversation, ses.first, ses.marked = marked, nil, true
		}
		ses.replies = make([]endpoint.Memory, s.Turns) // of a fixed length: forks read it while later turns write
		if s.Fork {
			parent := e.session(s.Parent, warmup)
			ses.inherited = parent.before(s.ParentTurn + 1)
			ses.first = nil // it was worded as if nothing came before it
		}
		s.State = ses
	}
	return s.State.(*session)
}

// before is the history of a turn, up to a fork's beginnings.
func (s *session) before(turn int) *endpoint.History {
	h := endpoint.Before(s.conversation, turn, s.replies)
	if s.conversation.Live() && s.from > 0 && s.from <= len(h.Past) {
		h.Past = h.Past[s.from:] // what was never sent has no answer
	}
	if in := s.inherited; in != nil {
		h.System, h.UserContext, h.Past = in.System, in.UserContext, append(in.Past[:len(in.Past):len(in.Past)], h.Past...)
	}
	return h
}

// encode words a turn.
func (e *executor) encode(ses *session, r *load.Request, id string) (endpoint.Request, error) {
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
	if r.Turn == 0 && !r.Phase.Primes && ses.inherited == nil && err == nil && !req.Once && !ses.marked {
		e.data.keep(r.Session.Conversation, ses.conversation, &req)
		e.inputs.offer(r.Session.Conversation, ses.conversation, &req)
	}
	return req, err
}

// oneToken is a turn that asks for an answer of one token.
func oneToken(t *conversation.Turn) *conversation.Turn {
	short := *t
	one := 1
	short.MaxTokens = &one
	return &short
}

// Prepare implements load.Executor.
func (e *executor) Prepare(ctx context.Context, r *load.Request) load.Armed {
	ses := e.session(r.Session, r.Phase.Warmup)
	if ses.conversation.Turns[r.Turn].Silent {
		return silent{}
	}
	a := &armed{executor: e, ctx: ctx, request: r, session: ses, id: rng.UUID()}
	req, err := e.encode(ses, r, a.id)
	if err == nil {
		a.wire.Target, err = e.addresses.of(r.Session.URL, req.Path)
	}
	if a.formatError = err; err != nil {
		return a
	}
	a.wire.Method, a.wire.Body = req.Method, req.Body
	a.wire.Headers = e.headers.Build(transport.Identity{RequestID: a.id, CorrelationID: r.Session.ID, ContentType: req.ContentType,
		Extra: append(extraHeaders(a.turn()), req.Headers...)})
	a.wire.Session = r.Session.ID
	a.wire.LastTurn = r.Turn+1 >= r.Session.Turns
	a.wire.WarmUp = r.Phase.Warmup
	a.wire.Armed = !e.dialLate
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
func (e *executor) Close(s *load.Session) {
	if e.sticky {
		e.carrier.CloseSession(s.ID)
	}
}

// silent is a turn that sends nothing.
type silent struct{}

// Fire implements load.Armed.
func (silent) Fire(load.Issue) {}

// Wait implements load.Armed.
func (silent) Wait(func(int64)) load.Outcome { return load.Outcome{} }

// Discard implements load.Armed.
func (silent) Discard() {}

// armed is one request that waits for its instant.
type armed struct {
	*executor
	ctx         context.Context
	request     *load.Request
	session     *session
	id          string
	wire        transport.Request
	exchange    exchange
	reading     *endpoint.Reading // nil = nobody has looked into the answer yet
	formatError error
	issue       load.Issue
}

var _ load.Armed = (*armed)(nil)

func (a *armed) turn() *conversation.Turn { return &a.session.conversation.Turns[a.request.Turn] }

// clock is now, for instants that no socket stamps.
func (a *armed) clock() int64 { return clock.Now() }

// Fire implements load.Armed.
func (a *armed) Fire(issue load.Issue) {
	a.issue = issue
	if a.flights != nil {
		a.flights.Enter()
	}
	if a.pulse != nil {
		a.pulse.Enter()
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

// Discard implements load.Armed.
func (a *armed) Discard() {
	if a.exchange != nil {
		a.exchange.Drop()
	}
}

// followed tells whether somebody watches the request.
func (a *armed) followed() bool { return a.watcher != nil && !a.request.Phase.Warmup }

// Wait implements load.Armed.
func (a *armed) Wait(firstToken func(at int64)) load.Outcome {
	if a.followed() {
		firstToken = a.tellFirst(firstToken)
	}
	rec := &record.Record{Meta: a.meta(), Intended: a.issue.Intended, Issued: a.issue.At}
	switch {
	case a.formatError != nil:
		a.refuse(rec)
	default:
		if a.exchange == nil {
			a.exchange = a.carrier.Prepare(a.ctx, &a.wire)
			a.exchange.Send()
		}
		a.exchange.Receive(rec, a.watch(firstToken))
		if a.followsUp {
			a.followUp(rec)
		}
	}
	out := a.outcome(rec)
	a.remember(rec)
	if a.reading != nil {
		rec.Attach(a.reading)
	}
	a.beat(rec)
	if a.followed() {
		a.watcher.Ended(a.id, rec.End+rec.WallOffset)
	}
	a.put(rec)
	if a.flights != nil {
		a.flights.Leave()
	}
	return out
}

// tellFirst tells who watches of the first content before the load hears of it.
func (a *armed) tellFirst(firstToken func(at int64)) func(at int64) {
	return func(at int64) {
		a.watcher.First(a.id, clock.Wall(a.clock()))
		firstToken(at)
	}
}

// meta says which request this is.
func (a *armed) meta() record.Meta {
	p, t := a.request.Phase, a.turn()
	m := record.Meta{
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
	if t.MaxTokens != nil {
		m.MaxTokens = *t.MaxTokens
	}
	if p.Primes {
		m.MaxTokens = 1
	}
	m.LengthInBody = a.lengthInBody || t.RawPayload != nil || t.ExtraBody != nil && endpoint.RequestedTokens(t.ExtraBody) > 0
	if p.Mode == load.FixedSchedule {
		m.TurnTimestamp = t.Timestamp
	}
	return m
}

// read is the reading of the answer, begun when somebody first needs it.
func (a *armed) read() *endpoint.Reading {
	if a.reading == nil {
		a.reading = endpoint.NewReading(a.codec, a.remembers())
	}
	return a.reading
}

// watch looks at the messages of a stream as they arrive: for the first content, if anybody waits for it, and for reports of failure,
// which end the request. Everything else is read later and elsewhere.
func (a *armed) watch(firstToken func(at int64)) transport.OnMessage {
	waiting := a.firstToken
	return func(all []record.Message) *record.Error {
		if a.pulse != nil {
			a.pulse.event(all[len(all)-1].At)
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
		if last := &all[len(all)-1]; last.Body || !sse.MayFail(last.Raw, last.Line) {
			return nil
		}
		return a.read().All(all)
	}
}

// beat tells who watches the servers that a request is over.
func (a *armed) beat(rec *record.Record) {
	p := a.pulse
	if p == nil {
		return
	}
	if len(rec.Messages) > 0 {
		p.first(rec.Messages[0].At - rec.Start)
	} else if rec.Error != nil && rec.Cut == "" && rec.Error.Type != transport.ErrTimeout && a.formatError == nil {
		p.event(rec.End) // a refusal is an answer, too
	}
	p.Leave()
}

// refuse makes the record of a request that could not be put into words: nothing went over the wire.
func (a *armed) refuse(rec *record.Record) {
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

// outcome says how the request ended, and marks records that the run itself cut.
func (a *armed) outcome(rec *record.Record) load.Outcome {
	if rec.Error == nil {
		return load.Outcome{Failed: a.read().Failed(rec), Sent: rec.Start, Arrived: rec.End, Connecting: connecting(rec)}
	}
	if rec.Cut != "" {
		rec.Error.Message = "Request cancelled: " + rec.Cut
		return load.Outcome{Failed: true, Cancelled: true, Sent: rec.Start, Connecting: connecting(rec)}
	}
	return load.Outcome{Failed: true, Sent: rec.Start, Connecting: connecting(rec), NoConnection: noConnection(rec), Overflow: a.overflow != nil && a.overflow(rec.Error)}
}

// connecting returns how long, before its start, a request waited for a connection: for a free one where their number is limited, or for the name and
// the server.
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

// noConnection tells whether a request failed because the server was not reached, and not for want of room on this machine.
func noConnection(rec *record.Record) bool {
	switch e := rec.Error; e.Type {
	case transport.ErrDNS, transport.ErrConnect, transport.ErrTLS, transport.ErrCertificate:
		return !e.Local
	case transport.ErrTimeout:
		return rec.Trace != nil && rec.Trace.ConnectStart != 0 && rec.Trace.ConnectEnd == 0
	}
	return false
}

// remembers tells whether a later turn sends the answer again: one of the session, or of a fork of it.
func (a *armed) remembers() bool {
	s, turn := a.request.Session, a.request.Turn
	return a.replies && (turn+1 < s.Turns || s.Shape.Forks(turn)) && a.session.conversation.Live()
}

// remember keeps what the answer leaves for the turns that follow.
func (a *armed) remember(rec *record.Record) {
	if a.remembers() {
		a.session.replies[a.request.Turn] = a.read().Memory(rec)
	}
}
