package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/record"
)

// patience is how long a start that the user interrupted may take to notice it.
const patience = time.Second

// start goes through the stages of the run. When the context ends it gives up within patience, whatever the rooms are busy with: a tokenizer that
// loads, a file that does not answer, a terminal that takes nothing. What it opened is released unless it returns nil.
func (r *runner) start(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		err := r.pass(ctx, resolving)
		if err == nil && ctx.Err() == nil {
			err = r.pass(ctx, opening)
		}
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case err = <-done:
		case <-timer.C:
			go func() {
				<-done
				r.close(ctx)
			}()
			return early(ctx)
		}
	}
	switch {
	case ctx.Err() != nil:
		err = early(ctx)
	case err == nil:
		return nil
	}
	r.close(ctx)
	return err
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
