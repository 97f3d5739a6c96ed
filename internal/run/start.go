package run

import (
	"context"
	"fmt"
	"time"

	"aiperf/internal/config"
)

// interruptLimit is the time limit for a start to react to an interruption by the user.
const interruptLimit = time.Second

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
			got.abandon(ctx)
		}
	}
	var got result
	select {
	case got = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(interruptLimit)
		defer timer.Stop()
		select {
		case got = <-done:
		case <-timer.C:
			go func() { release(<-done) }()
			return nil, interruptedEarly(ctx)
		}
	}
	if ctx.Err() != nil {
		release(got)
		return nil, interruptedEarly(ctx)
	}
	return got.runResources, got.err
}

// interruptedEarly returns the error of a run that was interrupted before it sent anything.
func interruptedEarly(ctx context.Context) error {
	return fmt.Errorf("%w before the first request; there is nothing to report", context.Cause(ctx))
}
