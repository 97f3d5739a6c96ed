package preflight

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/run/connection"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/modellist"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
)

// The condition for a model to be ready (transport, section 13.1). Any other value requires both.
const (
	readyByList   = "models"
	readyByAnswer = "inference"
)

// readiness waits for the servers before the measurement. Its requests are not part of any result and have their own connections.
type readiness struct {
	WaitLimits
	*Sender
	over connection.Client
}

// WaitLimits holds the limits of the wait.
type WaitLimits struct {
	mode  string
	limit time.Duration // for one model of one server
	pause time.Duration // between two tries
}

// WaitLimitsOf returns the limits that the settings give.
func WaitLimitsOf(b *config.Benchmark) WaitLimits {
	e := &b.Endpoint
	return WaitLimits{e.WaitForModelMode, e.WaitForModelTimeout.Duration(), e.WaitForModelEvery.Duration()}
}

// AwaitModels waits until every server answers for every model. If one does not answer in time, the run ends with the last error.
func (p *Sender) AwaitModels(ctx context.Context) error {
	cfg, e := p.Config, &p.Config.Endpoint
	if e.WaitForModelTimeout <= 0 {
		return nil
	}
	over, release, err := p.ownClient(nil)
	if err != nil {
		return err
	}
	defer release()
	w := readiness{WaitLimits: WaitLimitsOf(cfg), Sender: p, over: over}
	if _, err := w.tinyRequest(cfg.Models.Asked()[0]); err != nil && w.mode != readyByList {
		return fmt.Errorf("%[1]s %[2]s: endpoint type %[3]s cannot send a text alone (%[4]w); to check the list of models instead, give %[1]s %[5]s",
			cfg.As("endpoint.wait_for_model_mode"), w.mode, p.Endpoint.Name, err, readyByList)
	}
	for i := range p.Addresses.Targets {
		for _, model := range cfg.Models.Asked() {
			begun := time.Now()
			waited, err := w.await(ctx, i, model, func(why error) { p.Say.Note("waiting for model %s, at most %s: %v", model, w.limit, why) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("model %s is not ready at %s after %s: %w; to wait longer, raise %s", model, p.Addresses.Bases[i], w.limit, err,
					cfg.As("endpoint.wait_for_model_timeout"))
			}
			if waited {
				p.Say.Note("model %s was ready after %s", model, time.Since(begun).Round(100*time.Millisecond))
			}
		}
	}
	return nil
}

// await asks until a model is ready. It calls begin with the reason if the model is not ready at first. The error is the last reason.
func (w *readiness) await(ctx context.Context, url int, model string, begin func(why error)) (waited bool, err error) {
	ctx, stop := context.WithTimeout(ctx, w.limit)
	defer stop()
	var last error
	for {
		why, cut := w.ready(ctx, url, model)
		if why == nil {
			return waited, nil
		}
		if !waited {
			waited = true
			begin(why)
		}
		if last == nil || !cut {
			last = why
		}
		select {
		case <-ctx.Done():
			return waited, last
		case <-time.After(w.pause):
		}
	}
}

// ready asks once and returns nil if the model is ready. cut is true if the answer took too long.
func (w *readiness) ready(ctx context.Context, url int, model string) (why error, cut bool) {
	most := max(w.pause, time.Second)
	begun := time.Now()
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	if w.mode != readyByAnswer {
		why = w.listed(ctx, url, model)
	}
	if why == nil && w.mode != readyByList {
		why = w.answers(ctx, url, model)
	}
	end, _ := ctx.Deadline()
	if why != nil && time.Until(end) < time.Millisecond { // the exchange notices the deadline a moment before the context does
		return fmt.Errorf("no answer within %s", time.Since(begun).Round(time.Millisecond)), true
	}
	return why, false
}

// listed asks for the description of the model if the API has one, otherwise for the list of models.
func (w *readiness) listed(ctx context.Context, url int, model string) error {
	if codec, ok := w.Codec.(endpoint.Learner); ok {
		if question := codec.Ask(model); question != nil {
			_, _, err := w.send(ctx, url, question)
			return err
		}
	}
	path, err := transport.JoinURL(w.Addresses.Bases[url], modellist.Path)
	if err != nil {
		return err
	}
	body, status, err := w.send(ctx, url, &endpoint.Request{Method: http.MethodGet, Path: path})
	if status == http.StatusNotFound { // the server has no list, so any answer counts as ready
		_, _, err := w.send(ctx, url, &endpoint.Request{Method: http.MethodGet, Path: w.Addresses.Bases[url]})
		return err
	}
	if err != nil {
		return err
	}
	list, err := modellist.Parse(body)
	if err != nil {
		return fmt.Errorf("%s: %w", modellist.Path, err)
	}
	if !slices.Contains(list.Names, model) {
		return fmt.Errorf("%s lists %d models, but not this one", modellist.Path, len(list.Names))
	}
	return nil
}

// answers sends a request for one token. Every status below 500 counts as an answer: the server is up even if it refuses this request.
func (w *readiness) answers(ctx context.Context, url int, model string) error {
	req, err := w.tinyRequest(model)
	if err != nil {
		return err
	}
	_, status, err := w.send(ctx, url, &req)
	if status > 0 && status < http.StatusInternalServerError {
		return nil
	}
	return err
}

// tinyRequest returns a request for one token.
func (w *readiness) tinyRequest(model string) (endpoint.Request, error) {
	one := 1
	return w.Codec.Encode(&conversation.Turn{Model: model, MaxTokens: &one, Parts: conversation.Texts("", "Lo")}, &endpoint.History{RequestID: "readiness"})
}

// send sends a request and returns the body and the status of the answer. Status 0 means that there was no answer, or that the protocol has no status.
func (w *readiness) send(ctx context.Context, url int, req *endpoint.Request) (body []byte, status int, err error) {
	rec, err := w.Executor.RoundTrip(ctx, w.over, url, req)
	if err != nil {
		return nil, 0, err
	}
	defer rec.Release()
	if rec.Error != nil {
		return nil, rec.Status, failed(rec.Error)
	}
	if len(rec.Messages) > 0 {
		body = bytes.Clone(rec.Messages[0].Raw)
	}
	return body, rec.Status, nil
}
