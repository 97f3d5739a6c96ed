package run

import (
	"context"

	"aiperf/internal/measure/record"
)

// admission is the component that passes finished records to the results while the load runs. It refuses records that arrive after the load.
type admission struct {
	passiveComponent
	gate     *recordGate
	put      func(*record.Record)
	meter    *meter // counts the requests in flight; it is started before this component
	executor *executor
}

// Start implements component.
func (a admission) Start(context.Context) error {
	a.executor.flights = a.meter.heart
	a.gate.open(a.put)
	return nil
}

// Stop implements component.
func (a admission) Stop(context.Context) error {
	a.gate.shut()
	return nil
}
