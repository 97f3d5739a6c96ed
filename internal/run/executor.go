package run

import (
	"context"
	"encoding/json"
	"errors"

	"aiperf/internal/clock"
	"aiperf/internal/conversation"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/record"
	"aiperf/internal/rng"
	"aiperf/internal/transport"
)

// executor carries requests out: it puts turns into words, sends them, reads the answers, remembers them for the turns that follow, and
// hands the finished records on.
type executor struct {
	data     *prepared
	endpoint *endpoint.Endpoint
	input    endpoint.Input // what all requests share
	headers  transport.HeaderSet
	client   *transport.Client
	targets  []*transport.Target
	put      func(*record.Record) // the pipeline

	// dialLate connects at the instant instead of before it: with a connection of its own for every request, connecting is part of
	// what is measured.
	dialLate   bool
	sticky     bool
	firstToken bool // somebody waits for first tokens: look for content while reading
	worker     string
	processor  string
}

var _ load.Executor = (*executor)(nil)

// session is the state of a running session. Its turns never overlap.
type session struct {
	conversation *conversation.Conversation
	body         []byte            // of the first request, if it is known already
	replies      []json.RawMessage // captured answers by turn
}

func (e *executor) session(s *load.Session) *session {
	if s.State == nil {
		s.State = e.data.session(s.Conversation)
	}
	return s.State.(*session)
}

// encode words a turn.
func (e *executor) encode(ses *session, r *load.Request) ([]byte, error) {
	if r.Turn == 0 && ses.body != nil {
		return ses.body, nil
	}
	in := e.input
	in.Conversation, in.Turn, in.Replies = ses.conversation, r.Turn, ses.replies
	body, err := e.endpoint.Encode(nil, &in)
	if r.Turn == 0 && err == nil {
		e.data.keep(r.Session.Conversation, ses.conversation, body)
	}
	return body, err
}

// Prepare implements load.Executor.
func (e *executor) Prepare(ctx context.Context, r *load.Request) load.Armed {
	ses := e.session(r.Session)
	a := &armed{executor: e, ctx: ctx, request: r, session: ses, id: rng.UUID()}
	a.wire.Body, a.formatError = e.encode(ses, r)
	if a.formatError != nil {
		return a
	}
	turn := a.turn()
	a.wire.Target = e.targets[r.Session.URL]
	a.wire.Headers = e.headers.Build(transport.Identity{RequestID: a.id, CorrelationID: r.Session.ID, Extra: extraHeaders(turn)})
	a.wire.Session = r.Session.ID
	a.wire.LastTurn = r.Turn+1 >= r.Session.Turns
	a.wire.Armed = !e.dialLate
	if !e.dialLate {
		a.exchange = e.client.Prepare(ctx, &a.wire)
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
		e.client.CloseSession(s.ID)
	}
}

// armed is one request that waits for its instant.
type armed struct {
	*executor
	ctx         context.Context
	request     *load.Request
	session     *session
	id          string
	wire        transport.Request
	exchange    *transport.Exchange
	formatError error
	issue       load.Issue
}

var _ load.Armed = (*armed)(nil)

func (a *armed) turn() *conversation.Turn { return &a.session.conversation.Turns[a.request.Turn] }

// Fire implements load.Armed.
func (a *armed) Fire(issue load.Issue) {
	a.issue = issue
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

// Wait implements load.Armed.
func (a *armed) Wait(firstToken func()) load.Outcome {
	rec := &record.Record{Meta: a.meta(), Intended: a.issue.Intended, Issued: a.issue.At}
	switch {
	case a.formatError != nil:
		a.refuse(rec)
	default:
		if a.exchange == nil {
			a.exchange = a.client.Prepare(a.ctx, &a.wire)
			a.exchange.Send()
		}
		a.exchange.Receive(rec, a.watch(firstToken))
	}
	out := a.outcome(rec)
	if !out.Failed && a.request.Turn+1 < a.request.Session.Turns {
		a.remember(rec)
	}
	a.put(rec)
	return out
}

// meta says which request this is.
func (a *armed) meta() record.Meta {
	p, t := a.request.Phase, a.turn()
	m := record.Meta{
		SessionNum: a.issue.Number, RequestID: a.id, CorrelationID: a.request.Session.ID, ConversationID: a.session.conversation.ID,
		TurnIndex: a.request.Turn, Model: t.Model, URLIndex: a.request.Session.URL, WorkerID: a.worker, ProcessorID: a.processor,
		Warmup: p.Warmup, PhaseIndex: p.Index, ProfilingIndex: p.Profiling, PhaseName: p.Name,
	}
	if m.Model == "" {
		m.Model = a.input.Model
	}
	if t.MaxTokens != nil {
		m.MaxTokens = *t.MaxTokens
	}
	if p.Mode == load.FixedSchedule {
		m.TurnTimestamp = t.Timestamp
	}
	return m
}

// watch looks for the first content while the answer arrives, if anybody waits for it.
func (a *armed) watch(firstToken func()) transport.OnMessage {
	if !a.firstToken {
		return nil
	}
	return func(raw []byte, at int64) bool {
		if !a.endpoint.FirstContent(&record.Message{Raw: raw, At: at}) {
			return true
		}
		firstToken()
		return false
	}
}

// refuse makes the record of a request that could not be put into words: nothing went over the wire.
func (a *armed) refuse(rec *record.Record) {
	rec.Start = a.issue.At
	rec.End = clock.Now()
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
		return load.Outcome{Failed: !a.answered(rec)}
	}
	if rec.Cut != "" {
		rec.Error.Message = "Request cancelled: " + rec.Cut
		return load.Outcome{Failed: true, Cancelled: true}
	}
	return load.Outcome{Failed: true, NoConnection: noConnection(rec)}
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

// answered tells whether some message of the answer carries content.
func (a *armed) answered(rec *record.Record) bool {
	for i := range rec.Messages {
		if a.endpoint.FirstContent(&rec.Messages[i]) {
			return true
		}
	}
	return false
}

// remember keeps the answer for the history of the turns that follow.
func (a *armed) remember(rec *record.Record) {
	if mode := a.session.conversation.Mode; mode != "" && mode != conversation.DeltasWithoutResponses {
		return
	}
	for len(a.session.replies) <= a.request.Turn {
		a.session.replies = append(a.session.replies, nil)
	}
	a.session.replies[a.request.Turn] = a.endpoint.Capture(rec)
}
