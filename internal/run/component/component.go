// Package component defines the parts of a run that work next to its requests, and the list that starts and stops them.
package component

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/workload/load"
)

// Component is a part of a run that works next to its requests: a simulated server, a file, a meter, a live view, telemetry. A component embeds
// Passive for the methods that it does not need. PhaseStart and PhaseEnd are called between the requests of two phases and must return quickly.
type Component interface {
	// Start starts the component after everything that it needs is open. The context is valid only during the start, so Start must not store it.
	Start(ctx context.Context) error
	PhaseStart(p *load.PhaseInfo)
	PhaseEnd(f *load.PhaseStats)
	// Stop ends the component within the context's deadline. It is called once, and only if Start succeeded.
	Stop(ctx context.Context) error
}

// Passive implements Component with methods that do nothing.
type Passive struct{}

// Start implements Component.
func (Passive) Start(context.Context) error { return nil }

// PhaseStart implements Component.
func (Passive) PhaseStart(*load.PhaseInfo) {}

// PhaseEnd implements Component.
func (Passive) PhaseEnd(*load.PhaseStats) {}

// Stop implements Component.
func (Passive) Stop(context.Context) error { return nil }

// closer is a component that is already open and is closed with the run.
type closer struct {
	Passive
	close func() error
}

// Stop implements Component.
func (c closer) Stop(context.Context) error { return c.close() }

// StopLimit is the time limit for stopping a component. A component that takes longer is abandoned and reported.
const StopLimit = 10 * time.Second

// List holds components. They are started in order and stopped in the opposite order. A List is not safe for concurrent use.
type List struct {
	running   []Component
	Unhurried bool // Stop of a component may take as long as it needs; the context only reports an interruption
}

// Start starts one more component. After an error the earlier ones keep running.
func (c *List) Start(ctx context.Context, one Component) error {
	if err := one.Start(ctx); err != nil {
		return err
	}
	c.running = append(c.running, one)
	return nil
}

// OnStop adds something that is already open. Stop calls end.
func (c *List) OnStop(end func() error) {
	c.running = append(c.running, closer{close: end})
}

// PhaseStart tells all components that a phase starts.
func (c *List) PhaseStart(p *load.PhaseInfo) {
	for _, one := range c.running {
		one.PhaseStart(p)
	}
}

// PhaseEnd tells all components that a phase has ended.
func (c *List) PhaseEnd(f *load.PhaseStats) {
	for _, one := range c.running {
		one.PhaseEnd(f)
	}
}

// Stop stops all components that run and returns their errors. Each gets StopLimit, even if the context of the run has ended; components of an
// unhurried list get as long as they need.
func (c *List) Stop(ctx context.Context) error {
	var errs []error
	for i := len(c.running) - 1; i >= 0; i-- {
		if c.Unhurried {
			errs = append(errs, c.running[i].Stop(ctx))
			continue
		}
		errs = append(errs, stopOne(ctx, c.running[i]))
	}
	c.running = nil
	return errors.Join(errs...)
}

func stopOne(ctx context.Context, one Component) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- one.Stop(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%T did not stop within %v", one, StopLimit)
	}
}
