package run

import "context"

// admission is the component that lets finished records in while the load goes on: to those that know how certain their instants are, and
// from there to the results. What comes back later finds it closed.
type admission struct {
	passive
	gate     *gate
	doubts   *certainty
	meter    *meter // knows when the client was blind, as long as it knows of requests; started before
	executor *executor
}

// Start implements component.
func (a admission) Start(context.Context) error {
	a.doubts.watch(a.meter.heart)
	a.executor.flights = a.meter.heart
	a.gate.open(a.doubts.put)
	return nil
}

// Stop implements component.
func (a admission) Stop(context.Context) error {
	a.gate.shut()
	return nil
}
