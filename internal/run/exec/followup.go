package exec

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// followUp sends the requests that an answer needs to be complete: polls and downloads. All of them belong to one request of the load: the record ends
// with the last exchange, and each exchange has a line in it. The request timeout starts again with the first follow-up. A result may have been ready
// since the poll before the one that found it was sent, so the last message is uncertain by that time.
func (a *armedRequest) followUp(rec *record.Record) {
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
	asked, unseen := rec.Start, int64(0)
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
		a.sendFollowUp(ctx, rec, wire, f)
		last := &rec.Exchanges[len(rec.Exchanges)-1]
		if f.After > 0 {
			unseen = rec.End - asked
		}
		asked = last.Start
		rec.FoundLate(unseen)
	}
}

// sendFollowUp sends one follow-up. It follows redirects as often as is allowed.
func (a *armedRequest) sendFollowUp(ctx context.Context, rec *record.Record, wire *transport.Request, f *endpoint.FollowUp) {
	for left := f.Redirects; ; left-- {
		x := a.carrier.Prepare(ctx, wire)
		x.Send()
		var step record.Record
		x.Receive(&step, nil)
		rec.Follow(wire.Method, wire.Target.URL, &step)
		switch {
		case step.Error == nil:
			return
		case ctx.Err() != nil && a.ctx.Err() == nil:
			rec.Error = late(f)
			return
		}
		if next := a.redirected(wire, &step); next != nil && left > 0 {
			wire = next
			continue
		}
		if f.Class != "" && rec.Cut == "" {
			rec.Error.Type = f.Class
		}
		return
	}
}

// redirected returns the request to the address that a redirect names; nil if the answer is not a redirect.
func (a *armedRequest) redirected(wire *transport.Request, step *record.Record) *transport.Request {
	switch step.Status {
	case 301, 302, 303, 307, 308:
	default:
		return nil
	}
	for _, h := range step.ResponseHeaders {
		if !strings.EqualFold(h.Name, "Location") {
			continue
		}
		at, err := url.Parse(wire.Target.URL)
		if err != nil {
			return nil
		}
		if at, err = at.Parse(h.Value); err != nil {
			return nil
		}
		at.Fragment = ""
		target, err := transport.NewTarget(at.String())
		if err != nil {
			return nil
		}
		next := *wire
		if next.Target = target; !target.SameOrigin(a.wire.Target) {
			next.Headers = a.foreign()
		}
		return &next
	}
	return nil
}

// foreign returns the headers for a server other than the endpoint: without credentials.
func (a *armedRequest) foreign() []record.Header {
	return []record.Header{{Name: "User-Agent", Value: a.headers.UserAgent}}
}

// next returns the follow-up that the answer needs now. A message that only led to a follow-up is removed from the record.
func (a *armedRequest) next(rec *record.Record) *endpoint.FollowUp {
	if rec.Error != nil {
		return nil
	}
	f := a.read().Next(rec.Messages)
	if f != nil && f.Forget {
		rec.Messages = rec.Messages[:len(rec.Messages)-1]
	}
	return f
}

// following builds the request of a follow-up. It has the headers of the original request, but no credentials for another server.
func (a *armedRequest) following(f *endpoint.FollowUp) (*transport.Request, error) {
	target, err := a.addresses.Target(a.request.Session.URL, f.Path)
	if err != nil {
		return nil, err
	}
	wire := &transport.Request{Target: target, Method: f.Method, Body: f.Body, Session: a.wire.Session, LastTurn: a.wire.LastTurn, WarmUp: a.wire.WarmUp, Framing: a.framing}
	if wire.Method == "" {
		wire.Method = "POST"
	}
	wire.Headers = slices.DeleteFunc(slices.Clone(a.wire.Headers), func(h record.Header) bool {
		return wire.Body.Len() == 0 && strings.EqualFold(h.Name, "Content-Type")
	})
	if !target.SameOrigin(a.wire.Target) {
		wire.Headers = a.foreign()
	}
	wire.Headers = append(wire.Headers[:len(wire.Headers):len(wire.Headers)], f.Headers...)
	return wire, nil
}

// late returns the error of a request whose follow-ups took too long.
func late(f *endpoint.FollowUp) *record.Error {
	if f.Late != nil {
		e := *f.Late // errors are modified in place to remove secrets
		return &e
	}
	return &record.Error{Type: transport.ErrTimeout, Message: "the request timeout passed while waiting for the result"}
}

// pause waits for d and returns false if the context ends first.
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
