package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/clock"
	"aiperf/internal/workload/load"
)

// Asker is the worker's end of the bus.
type Asker interface {
	// Ask asks the controller. The question is handled once.
	Ask(ctx context.Context, kind string, data []byte) ([]byte, error)
	// InSight returns an instant of this machine's clock at which the controller was there.
	InSight() int64
}

// Clock converts an instant of the controller's clock to this machine's, with the largest error in ns. ok is false if it is not known.
type Clock interface {
	Local(reference int64) (at, bound int64, ok bool)
}

// Coordinator implements load.Coordinator for a worker.
type Coordinator struct {
	Controller Asker
	Clock      Clock
}

var _ load.Coordinator = (*Coordinator)(nil)

// ask asks a question and reads the answer.
func (c *Coordinator) ask(ctx context.Context, kind string, q question, reply any) error {
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	if data, err = c.Controller.Ask(ctx, kind, data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, reply); err != nil {
		return fmt.Errorf("the controller's answer to %q is damaged: %w", kind, err)
	}
	return nil
}

// Open implements load.Coordinator.
func (c *Coordinator) Open(ctx context.Context, p *load.PhaseInfo, own load.Usage) (all load.Usage, err error) {
	err = c.ask(ctx, askOpen, question{Phase: p.Index, Used: own}, &all)
	return all, err
}

// Lease implements load.Coordinator.
func (c *Coordinator) Lease(ctx context.Context, p *load.PhaseInfo, ask load.Ask) (got load.Lease, err error) {
	err = c.ask(ctx, askLease, question{Phase: p.Index, Ask: ask}, &got)

	return got, err
}

// Begin implements load.Coordinator.
func (c *Coordinator) Begin(ctx context.Context, p *load.PhaseInfo) (int64, error) {
	var s start
	if err := c.ask(ctx, askBegin, question{Phase: p.Index}, &s); err != nil {
		return 0, err
	}
	at, _, ok := c.Clock.Local(s.At)
	if !ok {
		return 0, errors.New("the controller's clock is not known")
	}
	if late := clock.Now() - at; late > 0 {
		return 0, fmt.Errorf("phase %q started %v ago, before its start was known here", p.Name, time.Duration(late))
	}
	return at, nil
}

// Complete tells the controller that this machine has completed a phase.
func (c *Coordinator) Complete(ctx context.Context, f *load.PhaseStats) error {
	w := binenc.NewWriter(nil)
	f.Visit(w)
	if w.Err() != nil {
		return w.Err()
	}
	var none any
	return c.ask(ctx, askComplete, question{Phase: f.Info.Index, Stats: w.Bytes()}, &none)
}

// fencePause is the time between two looks at the controller's signs of life.
const fencePause = 50 * time.Millisecond

// KeepFence moves a generator's fence (load.Generator.Fence) ahead of the controller's last sign of life by timeout, until the context ends. A machine
// that cannot see its controller for so long, or that was stopped meanwhile, sends nothing.
func (c *Coordinator) KeepFence(ctx context.Context, timeout time.Duration, fence func(at int64)) {
	tick := time.NewTicker(fencePause)
	defer tick.Stop()
	for {
		fence(c.Controller.InSight() + int64(timeout))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
