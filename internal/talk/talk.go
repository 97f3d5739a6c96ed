// Package talk holds a conversation with a server, one message at a time, and tells the figures of each answer: those of a run, over the same
// connections, in the same words.
package talk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/conversation"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/rng"
	"aiperf/internal/transport"
)

// Options say whom to talk to, and how.
type Options struct {
	URL         string // base URL, or that of the API itself
	Model       string
	System      string // system prompt, "" = none
	Forget      bool   // every message stands alone
	Connections transport.Options
	Headers     transport.HeaderSet
	Connect     time.Duration              // longest time until the connection is there
	Read        time.Duration              // longest silence of the server
	Count       func(text string) int      // counts tokens
	Show        func(text, thought string) // is given each piece of an answer as it comes
}

// Talk is a conversation under way.
type Talk struct {
	Options
	client  *transport.Client
	target  *transport.Target
	codec   endpoint.Codec
	metrics *metric.Selection
	past    []endpoint.Past
	id      string
}

// Open prepares a conversation. Close ends it.
func Open(o Options) (*Talk, error) {
	kind, _, err := endpoint.Lookup("chat")
	if err != nil {
		return nil, err
	}
	full, err := transport.JoinURL(o.URL, kind.URLPath(true))
	if err != nil {
		return nil, err
	}
	t := &Talk{Options: o, id: rng.UUID()}
	if t.target, err = transport.NewTarget(full); err != nil {
		return nil, err
	}
	if t.codec, err = kind.Open(endpoint.Settings{Model: o.Model, Streaming: true}); err != nil {
		return nil, err
	}
	if t.metrics, err = metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true}); err != nil {
		return nil, err
	}
	t.Headers.Streaming = true
	t.client, err = transport.NewClient(o.Connections)
	return t, err
}

// Close ends the connections.
func (t *Talk) Close() { t.client.Close() }

// Causes of an exchange that is given up.
var (
	errConnect = errors.New("no connection")
	errSilent  = errors.New("no word from the server")
)

// exchange is one request on its way.
type exchange interface {
	Send()
	Receive(rec *record.Record, onMessage transport.OnMessage)
}

// Say sends a message and waits for the answer.
func (t *Talk) Say(ctx context.Context, text string) (*Figures, error) {
	turn := &conversation.Turn{Parts: conversation.Texts("", text)}
	id := rng.UUID()
	req, err := t.codec.Encode(turn, &endpoint.History{System: t.System, Past: t.past, RequestID: id})
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
		t.past = append(t.past, endpoint.Past{Turn: turn, Reply: memory})
	}
	return t.figures(rec, reply), nil
}

// show gives the texts of one message to whoever watches.
func (t *Talk) show(m *record.Message) {
	reply, _ := endpoint.Decode(t.codec, &record.Record{Messages: []record.Message{*m}}, endpoint.DecodeOptions{NoInput: true})
	for _, c := range reply.Contents {
		t.Show(c.Text, c.Reasoning)
	}
}
