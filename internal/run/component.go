package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/workload/load"
)

// component is a part of a run that works next to its requests: a simulated server, a file, a meter, a live view, telemetry. A component embeds
// passiveComponent for the methods that it does not need. PhaseStart and PhaseEnd are called between the requests of two phases and must return
// quickly.
type component interface {
	// Start starts the component after everything that it needs is open. The context is valid only during the start, so Start must not store it.
	Start(ctx context.Context) error
	PhaseStart(p *load.PhaseInfo)
	PhaseEnd(f *load.PhaseStats)
	// Stop ends the component within the context's deadline. It is called once, and only if Start succeeded.
	Stop(ctx context.Context) error
}

// passiveComponent implements component with methods that do nothing.
type passiveComponent struct{}

func (passiveComponent) Start(context.Context) error { return nil }
func (passiveComponent) PhaseStart(*load.PhaseInfo)  {}
func (passiveComponent) PhaseEnd(*load.PhaseStats)   {}
func (passiveComponent) Stop(context.Context) error  { return nil }

// closing is a component that is already open and is closed with the run.
type closing struct {
	passiveComponent
	close func() error
}

// Stop implements component.
func (c closing) Stop(context.Context) error { return c.close() }

// stopLimit is the time limit for stopping a component. A component that takes longer is abandoned and reported.
const stopLimit = 10 * time.Second

// components is a list that is started in order and stopped in the opposite order. It is not safe for concurrent use.
type components struct {
	running   []component
	unhurried bool // Stop of a component may take as long as it needs; the context only reports an interruption
}

// start starts one more component. After an error the earlier ones keep running.
func (c *components) start(ctx context.Context, one component) error {
	if err := one.Start(ctx); err != nil {
		return err
	}
	c.running = append(c.running, one)
	return nil
}

// opened adds something that is already open; stop calls end.
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

// stop stops all components that run and returns their errors. Each gets stopLimit, even if the context of the run has ended; unhurried components get
// as long as they need.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- one.Stop(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%T did not stop within %v", one, stopLimit)
	}
}
