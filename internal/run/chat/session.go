// Package chat holds a conversation with a server, one message at a time, and reports the figures of each answer. It uses the same connections,
// metrics and names as a run.
package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/base/rng"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
)

// Options selects the server and how to talk to it.
type Options struct {
	URL         string // base URL, or the complete URL of the API
	Model       string
	System      string // system prompt; "" = none
	Forget      bool   // send every message without the earlier ones
	Connections transport.Options
	Headers     transport.HeaderSet
	Connect     time.Duration              // limit for establishing the connection
	Read        time.Duration              // limit for the time without data from the server
	Count       func(text string) int      // counts the tokens of a text
	Show        func(text, thought string) // receives each piece of an answer when it arrives
}

// Session is an open conversation.
type Session struct {
	Options
	client  *transport.Client
	target  *transport.Target
	codec   endpoint.Codec
	metrics *metric.Selection
	history []endpoint.PastTurn
	id      string
}

// Open prepares a conversation. The caller must call Close.
func Open(o Options) (*Session, error) {
	kind, _, err := endpoint.Lookup("chat")
	if err != nil {
		return nil, err
	}
	full, err := transport.JoinURL(o.URL, kind.URLPath(true))
	if err != nil {
		return nil, err
	}
	t := &Session{Options: o, id: rng.UUID()}
	if t.target, err = transport.NewTarget(full); err != nil {
		return nil, err
	}
	if t.codec, err = kind.Codec(endpoint.Settings{Model: o.Model, Streaming: true}); err != nil {
		return nil, err
	}
	if t.metrics, err = metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true}); err != nil {
		return nil, err
	}
	t.Headers.Streaming = true
	t.client, err = transport.NewClient(o.Connections)
	return t, err
}

// Close closes the connections.
func (t *Session) Close() { t.client.Close() }

// Reasons why an exchange is cancelled.
var (
	errConnect = errors.New("no connection")
	errSilent  = errors.New("no data from the server")
)

// exchange is one request in flight.
type exchange interface {
	Send()
	Receive(rec *record.Record, onMessage transport.OnMessage)
}

// Say sends a message, waits for the whole answer and returns its figures.
func (t *Session) Say(ctx context.Context, text string) (*AnswerFigures, error) {
	turn := &conversation.Turn{Parts: conversation.Texts("", text)}
	id := rng.UUID()
	req, err := t.codec.Encode(turn, &endpoint.History{System: t.System, Past: t.history, RequestID: id})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := time.AfterFunc(t.Connect, func() { stop(fmt.Errorf("%w within %v", errConnect, t.Connect)) })
	var x exchange = t.client.Prepare(ctx, &transport.Request{Target: t.target, Body: req.Body, Session: t.id,
		Headers: t.Headers.Build(transport.Identity{RequestID: id, CorrelationID: t.id, ContentType: req.ContentType})})
	limit.Stop()
	limit = time.AfterFunc(t.Read, func() { stop(fmt.Errorf("%w for %v", errSilent, t.Read)) })
	defer limit.Stop()
	x.Send()
	rec := new(record.Record)
	reading := endpoint.NewReading(t.codec, true)
	x.Receive(rec, func(all []record.Message) *record.Error {
		limit.Reset(t.Read)
		t.show(&all[len(all)-1])
		return reading.All(all)
	})
	defer rec.Release()
	memory := reading.Memory(rec)
	reply, failure := reading.Finish(rec)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errConnect), errors.Is(cause, errSilent):
		return nil, cause
	case failure != nil && failure.Code != 0:
		return nil, fmt.Errorf("%d %s: %s", failure.Code, failure.Type, failure.Message)
	case failure != nil:
		return nil, fmt.Errorf("%s: %s", failure.Type, failure.Message)
	}
	if !t.Forget {
		t.history = append(t.history, endpoint.PastTurn{Turn: turn, Reply: memory})
	}
	return t.figures(rec, reply), nil
}

// show passes the texts of one message to Options.Show.
func (t *Session) show(m *record.Message) {
	reply, _ := endpoint.Decode(t.codec, &record.Record{Messages: []record.Message{*m}}, endpoint.DecodeOptions{NoInput: true})
	for _, c := range reply.Contents {
		t.Show(c.Text, c.Reasoning)
	}
}
