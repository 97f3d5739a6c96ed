package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/record"
)

// patience is how long a start that the user interrupted may take to notice it.
const patience = time.Second

// start resolves and opens a run. When the context ends it gives up within patience, whatever the packages below are busy with: a tokenizer that
// loads, a file that does not answer, a terminal that takes nothing. On an error nothing stays open.
func start(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts *Options, say *reporter) (*opened, error) {
	type result struct {
		*opened
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := resolve(ctx, cfg, seed, opts.Version, say)
		var o *opened
		if err == nil && ctx.Err() == nil {
			o, err = open(ctx, cfg, opts, r, say)
		}
		done <- result{o, err}
	}()
	release := func(got result) {
		if got.opened != nil {
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
	return got.opened, got.err
}

// early is the error of a run that was interrupted before it sent anything.
func early(ctx context.Context) error {
	return fmt.Errorf("%w before the first request; there is nothing to report", context.Cause(ctx))
}

// gate lets finished records into the pipeline until it is shut: a request that comes back after its phase was given up finds it closed.
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
