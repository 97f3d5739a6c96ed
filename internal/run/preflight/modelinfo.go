package preflight

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// askLimit is the time limit for a server to describe a model.
const askLimit = 10 * time.Second

// LearnModels asks the server for the properties of each model that the codec needs, if any. A server that does not answer does not stop the run.
func (p *Sender) LearnModels(ctx context.Context) error {
	codec, ok := p.Codec.(endpoint.Learner)
	if !ok {
		return nil
	}
	for _, model := range p.Config.Models.Asked() {
		question := codec.Ask(model)
		if question == nil {
			continue
		}
		answer, err := p.askOnce(ctx, question)
		switch {
		case err != nil && codec.Needs():
			return fmt.Errorf("the server does not describe its methods: %w", err)
		case err != nil:
			p.Say.Warn(fmt.Sprintf("the server does not describe model %s (%v); aiperf sends the usual inputs", model, err))
			continue
		}
		remarks, err := codec.Learn(model, answer)
		if err != nil {
			return err
		}
		for _, text := range remarks {
			p.Say.Warn(text)
		}
	}
	return nil
}

// askOnce sends a request outside the load and returns the body of its answer.
func (p *Sender) askOnce(ctx context.Context, req *endpoint.Request) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, askLimit)
	defer stop()
	rec, err := p.Executor.RoundTrip(ctx, p.Client, 0, req)
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

// failed formats a failure in one line.
func failed(e *record.Error) error {
	if e.Code != 0 {
		return fmt.Errorf("%d %s: %s", e.Code, e.Type, e.Message)
	}
	return fmt.Errorf("%s: %s", e.Type, e.Message)
}
