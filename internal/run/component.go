package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/load"
)

// component is something that lives beside the requests of a run: a simulated server, a file, a meter, a live view, telemetry. It embeds
// passive for what does not concern it. PhaseStart and PhaseEnd are called between two phases' requests and must not take long.
type component interface {
	// Start begins it; what it needs is open. The context ends with the run's start: it is not to be kept.
	Start(ctx context.Context) error
	PhaseStart(p *load.PhaseInfo)
	PhaseEnd(f *load.PhaseStats)
	// Stop ends it within the context's deadline. It is called once, and only after Start succeeded.
	Stop(ctx context.Context) error
}

// passive is a component that does nothing.
type passive struct{}

func (passive) Start(context.Context) error { return nil }
func (passive) PhaseStart(*load.PhaseInfo)  {}
func (passive) PhaseEnd(*load.PhaseStats)   {}
func (passive) Stop(context.Context) error  { return nil }

// closing is a component that is open already and is closed with the run.
type closing struct {
	passive
	close func() error
}

// Stop implements component.
func (c closing) Stop(context.Context) error { return c.close() }

// stopTime is how long a component may take to stop; what takes longer is left behind, and said.
const stopTime = 10 * time.Second

// components are started in their order and stopped in the opposite one. They are not safe for concurrent use.
type components struct {
	running   []component
	unhurried bool // what is stopped completes what it has, however long that takes; the context tells it of an interruption
}

// start starts one more. An error leaves those before it running.
func (c *components) start(ctx context.Context, one component) error {
	if err := one.Start(ctx); err != nil {
		return err
	}
	c.running = append(c.running, one)
	return nil
}

// opened adds what is open already.
func (c *components) opened(end func() error) {
	c.running = append(c.running, closing{close: end})
}

func (c *components) phaseStart(p *load.PhaseInfo) {
	for _, one := range c.running {
		one.PhaseStart(p)
	}
}

func (c *components) phaseEnd(f *load.PhaseStats) {
	for _, one := range c.running {
		one.PhaseEnd(f)
	}
}

// stop stops all that run, each within stopTime whatever became of the run's context (unhurried: for as long as it takes), and tells what
// went wrong.
func (c *components) stop(ctx context.Context) error {
	var errs []error
	for i := len(c.running) - 1; i >= 0; i-- {
		if c.unhurried {
			errs = append(errs, c.running[i].Stop(ctx))
			continue
		}
		errs = append(errs, stopOne(ctx, c.running[i]))
	}
	c.running = nil
	return errors.Join(errs...)
}

func stopOne(ctx context.Context, one component) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- one.Stop(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%T did not stop within %v", one, stopTime)
	}
}
