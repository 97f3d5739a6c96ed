package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
)

// patience is the time limit for a start to react to an interruption by the user.
const patience = time.Second

// start resolves and opens a run. When the context ends it gives up within patience, whatever blocks the packages below: a tokenizer that loads, a
// file that does not answer, a terminal that accepts no output. On an error nothing stays open.
func start(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts *Options, say *reporter) (*runResources, error) {
	type result struct {
		*runResources
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := resolve(ctx, cfg, seed, opts.Version, say)
		var o *runResources
		if err == nil && ctx.Err() == nil {
			o, err = open(ctx, cfg, opts, r, say)
		}
		done <- result{o, err}
	}()
	release := func(got result) {
		if got.runResources != nil {
			got.abandon(ctx, cfg, say)
		}
	}
	var got result
	select {
	case got = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case got = <-done:
		case <-timer.C:
			go func() { release(<-done) }()
			return nil, early(ctx)
		}
	}
	if ctx.Err() != nil {
		release(got)
		return nil, early(ctx)
	}
	return got.runResources, got.err
}

// early returns the error of a run that was interrupted before it sent anything.
func early(ctx context.Context) error {
	return fmt.Errorf("%w before the first request; there is nothing to report", context.Cause(ctx))
}

// gate passes finished records to the pipeline until it is closed. It drops requests that return after their phase was abandoned.
type gate struct {
	mu   sync.RWMutex
	into func(*record.Record)
}

func (g *gate) put(rec *record.Record) {
	g.mu.RLock()
	into := g.into
	if into != nil {
		into(rec)
	}
	g.mu.RUnlock()
	if into == nil {
		rec.Release()
	}
}

func (g *gate) open(into func(*record.Record)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.into = into
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.into = nil
}
