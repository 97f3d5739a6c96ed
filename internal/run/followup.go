package run

import (
	"context"
	"time"

	"aiperf/internal/endpoint"
	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// followUp sends what an answer asks for before it is whole: polls, downloads. All of it is one request of the load: the record ends with
// the last exchange, and each exchange has a line of its own in it. The request timeout counts again from the first of them.
func (a *armed) followUp(rec *record.Record) {
	f := a.next(rec)
	if f == nil {
		return
	}
	ctx := a.ctx
	if a.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, a.timeout)
		defer stop()
	}
	for ; f != nil; f = a.next(rec) {
		if !pause(ctx, f.After) && a.ctx.Err() == nil {
			rec.End, rec.Error = a.clock(), late(f)
			return
		}
		wire, err := a.following(f)
		if err != nil {
			rec.End, rec.Error = a.clock(), &record.Error{Type: "ValueError", Message: err.Error()}
			return
		}
		x := a.carrier.Prepare(ctx, wire)
		x.Send()
		var step record.Record
		x.Receive(&step, nil)
		rec.Follow(wire.Method, wire.Target.URL, &step)
		if step.Error != nil && ctx.Err() != nil && a.ctx.Err() == nil {
			rec.Error = late(f)
		}
	}
}

// next is what the answer asks for now; a message that led nowhere but here is taken out of the record.
func (a *armed) next(rec *record.Record) *endpoint.FollowUp {
	if rec.Error != nil {
		return nil
	}
	f := a.read().Next(rec.Messages)
	if f != nil && f.Forget {
		rec.Messages = rec.Messages[:len(rec.Messages)-1]
	}
	return f
}

// following words a follow-up: the headers of the request itself, but no credentials for another server.
func (a *armed) following(f *endpoint.FollowUp) (*transport.Request, error) {
	target, err := a.addresses.of(a.request.Session.URL, f.Path)
	if err != nil {
		return nil, err
	}
	wire := &transport.Request{Target: target, Method: f.Method, Body: f.Body, Session: a.wire.Session, LastTurn: a.wire.LastTurn, WarmUp: a.wire.WarmUp}
	if wire.Method == "" {
		wire.Method = "POST"
	}
	if wire.Headers = a.wire.Headers; !target.SameOrigin(a.wire.Target) {
		wire.Headers = []record.Header{{Name: "User-Agent", Value: a.headers.UserAgent}}
	}
	wire.Headers = append(wire.Headers[:len(wire.Headers):len(wire.Headers)], f.Headers...)
	return wire, nil
}

// late is the error of a request whose follow-ups took too long.
func late(f *endpoint.FollowUp) *record.Error {
	if f.Late != nil {
		e := *f.Late // errors are cleaned in place
		return &e
	}
	return &record.Error{Type: transport.ErrTimeout, Message: "the request timeout passed while waiting for the result"}
}

// pause waits; false = the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
