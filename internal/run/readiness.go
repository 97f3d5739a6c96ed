package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/conversation"
	"aiperf/internal/endpoint"
	"aiperf/internal/models"
	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// What proves that a model is ready (transport, section 13.1).
const (
	readyByList   = "models"
	readyByAnswer = "inference"
	readyByBoth   = "both"
)

// readiness waits for the servers before anything is measured. No result holds its requests; they have connections of their own.
type readiness struct {
	modelWait
	*executor
	over carrier
}

// modelWait is how long is waited for what.
type modelWait struct {
	mode  string
	limit time.Duration // for one model of one server
	pause time.Duration // between two questions
}

func waitOf(b *config.Benchmark) modelWait {
	e := &b.Endpoint
	return modelWait{e.WaitForModelMode, e.WaitForModelTimeout.Duration(), e.WaitForModelEvery.Duration()}
}

// awaitModels waits until every server answers for every model. Whoever does not in time ends the run, with what was last heard.
func (o *opened) awaitModels(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) error {
	e := &cfg.Endpoint
	if e.WaitForModelTimeout <= 0 {
		return nil
	}
	connections := Connections(cfg, nil)
	connections.Capture = transport.CaptureOff
	over, _, release, err := carry(cfg, r, connections, userAgent(opts.Version))
	if err != nil {
		return err
	}
	defer release()
	w := readiness{modelWait: waitOf(cfg), executor: o.executor, over: over}
	if _, err := w.words(cfg.Models.Names()[0]); err != nil && w.mode != readyByList {
		return fmt.Errorf("%s %s: endpoint type %s cannot be asked with a text alone (%w); %s looks at what the server lists",
			cfg.As("endpoint.wait_for_model_mode"), w.mode, r.endpoint.Name, err, readyByList)
	}
	for i := range o.addresses.list {
		for _, model := range cfg.Models.Names() {
			begun := time.Now()
			waited, err := w.await(ctx, i, model, func(why error) { say.note("waiting for model %s, %s at the most: %v", model, w.limit, why) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: model %s is not ready at %s after %s; what was heard last: %w", cfg.As("endpoint.wait_for_model_timeout"), model,
					e.URLs[min(i, len(e.URLs)-1)], time.Since(begun).Round(time.Second), err)
			}
			if waited {
				say.note("model %s was ready after %s", model, time.Since(begun).Round(100*time.Millisecond))
			}
		}
	}
	return nil
}

// await asks until a model is ready. begin is told why it is not at first; the error is the last reason.
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

// ready asks once; nil = the model is ready. cut: the answer was not waited for any longer.
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

// listed asks for what the server tells of the model, where the API has that, else for the list of models.
func (w *readiness) listed(ctx context.Context, url int, model string) error {
	if codec, ok := w.codec.(endpoint.Learner); ok {
		if question := codec.Ask(model); question != nil {
			return w.send(ctx, url, question, func(rec *record.Record) error { return nil })
		}
	}
	list, err := transport.JoinURL(w.addresses.bases[url], models.Path)
	if err != nil {
		return err
	}
	missing := false
	err = w.send(ctx, url, &endpoint.Request{Method: http.MethodGet, Path: list}, func(rec *record.Record) error {
		var body struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if len(rec.Messages) == 0 || json.Unmarshal(rec.Messages[0].Raw, &body) != nil {
			return fmt.Errorf("%s gives no list of models", models.Path)
		}
		for _, one := range body.Data {
			if one.ID == model {
				return nil
			}
		}
		return fmt.Errorf("%s lists %d models, not this one", models.Path, len(body.Data))
	}, func(status int) { missing = status == http.StatusNotFound })
	if missing { // no list; then a server that answers at all will do
		return w.send(ctx, url, &endpoint.Request{Method: http.MethodGet, Path: w.addresses.bases[url]}, func(*record.Record) error { return nil })
	}
	return err
}

// answers sends a request for one token. A status below 500 is an answer: who refuses these words is there.
func (w *readiness) answers(ctx context.Context, url int, model string) error {
	req, err := w.words(model)
	if err != nil {
		return err
	}
	there := false
	err = w.send(ctx, url, &req, func(*record.Record) error { return nil }, func(status int) { there = status > 0 && status < http.StatusInternalServerError })
	if there {
		return nil
	}
	return err
}

// words are a request for one token.
func (w *readiness) words(model string) (endpoint.Request, error) {
	one := 1
	return w.codec.Encode(&conversation.Turn{Model: model, MaxTokens: &one, Parts: conversation.Texts("", "Lo")}, &endpoint.History{RequestID: "readiness"})
}

// send sends a request and looks at its answer; status is told what a failed one had.
func (w *readiness) send(ctx context.Context, url int, req *endpoint.Request, look func(*record.Record) error, status ...func(int)) error {
	rec, err := w.aside(ctx, w.over, url, req)
	if err != nil {
		return err
	}
	defer rec.Release()
	if rec.Error != nil {
		for _, tell := range status {
			tell(rec.Status)
		}
		return failed(rec.Error)
	}
	return look(rec)
}
