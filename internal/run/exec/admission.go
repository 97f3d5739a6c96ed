package exec

import (
	"context"
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/run/component"
	"aiperf/internal/run/watch"
)

// admission is the component that passes finished records to the results while the load runs, and reports the requests in flight to observers. The
// executor drops records that arrive after the load.
type admission struct {
	component.Passive
	executor *Executor
	into     func(*record.Record)
	flights  func() FlightObserver // called at the start
	stalls   *watch.StallDetector
}

// Admit returns the component. flights is called at its start and returns what counts the requests in flight.
func (e *Executor) Admit(into func(*record.Record), flights func() FlightObserver, stalls *watch.StallDetector) component.Component {
	return admission{executor: e, into: into, flights: flights, stalls: stalls}
}

// Start implements component.
func (a admission) Start(context.Context) error {
	a.executor.flights, a.executor.stalls = a.flights(), a.stalls
	a.executor.gate.open(a.into)
	return nil
}

// Stop implements component.
func (a admission) Stop(context.Context) error {
	a.executor.gate.shut()
	return nil
}

// recordGate passes finished records to the pipeline until it is closed. It drops requests that return after their phase was abandoned.
type recordGate struct {
	mu   sync.RWMutex
	into func(*record.Record)
}

func (g *recordGate) put(rec *record.Record) {
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

func (g *recordGate) open(into func(*record.Record)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.into = into
}

func (g *recordGate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.into = nil
}
