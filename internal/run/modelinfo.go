package run

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"aiperf/internal/base/rng"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// askLimit is the time limit for a server to describe a model.
const askLimit = 10 * time.Second

// learnModels asks the server for the properties of each model that the codec needs, if any. A server that does not answer does not stop the run.
func learnModels(ctx context.Context, e *executor, models []string, warn func(string)) error {
	codec, ok := e.codec.(endpoint.Learner)
	if !ok {
		return nil
	}
	for _, model := range models {
		question := codec.Ask(model)
		if question == nil {
			continue
		}
		answer, err := e.askOnce(ctx, question)
		switch {
		case err != nil && codec.Needs():
			return fmt.Errorf("the server does not describe its methods: %w", err)
		case err != nil:
			warn(fmt.Sprintf("the server does not describe model %s (%v); aiperf sends the usual inputs", model, err))
			continue
		}
		remarks, err := codec.Learn(model, answer)
		if err != nil {
			return err
		}
		for _, text := range remarks {
			warn(text)
		}
	}
	return nil
}

// askOnce sends a request outside the load and returns the body of its answer.
func (e *executor) askOnce(ctx context.Context, req *endpoint.Request) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, askLimit)
	defer stop()
	rec, err := e.roundTrip(ctx, e.carrier, 0, req)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	switch {
	case rec.Error != nil:
		return nil, failed(rec.Error)
	case len(rec.Messages) == 0:
		return nil, fmt.Errorf("an empty answer")
	}
	return bytes.Clone(rec.Messages[0].Raw), nil
}

// roundTrip sends a request outside the load to the server with the index url and waits for the answer. The caller releases the record. An error means
// that nothing was sent.
func (e *executor) roundTrip(ctx context.Context, over protocolClient, url int, req *endpoint.Request) (*record.Record, error) {
	target, err := e.addresses.of(url, req.Path)
	if err != nil {
		return nil, err
	}
	return e.roundTripTo(ctx, over, target, req), nil
}

// roundTripTo sends a request outside the load to a target, ignoring its path, and waits for the answer. The caller releases the record.
func (e *executor) roundTripTo(ctx context.Context, over protocolClient, target *transport.Target, req *endpoint.Request) *record.Record {
	id := rng.UUID()
	rec := new(record.Record)
	x := over.Prepare(ctx, &transport.Request{Target: target, Method: req.Method, Body: req.Body, WarmUp: true, Session: id, LastTurn: true, Framing: e.framing,
		Headers: e.headers.Build(transport.Identity{RequestID: id, CorrelationID: id, ContentType: req.ContentType, Extra: req.Headers})})
	x.Send()
	x.Receive(rec, nil)
	return rec
}

// failed formats a failure in one line.
func failed(e *record.Error) error {
	if e.Code != 0 {
		return fmt.Errorf("%d %s: %s", e.Code, e.Type, e.Message)
	}
	return fmt.Errorf("%s: %s", e.Type, e.Message)
}
