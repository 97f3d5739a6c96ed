package plan

import (
	"context"
	"errors"
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/run"
)

// MachineOptions say on which machines the runs of a session are sent.
type MachineOptions struct {
	Machines config.Machines
	Version  string
	Secret   func(text string) // receives texts that must not be shown
	Note     func(text string) // tells the user something
	As       func(key string) string
}

// Machines are open until the end of the session.
type Machines interface {
	run.Machines
	Close() error
}

// onMachines returns the machines of the session, or nil if this process sends the requests. They start with the first run.
func (i *invocation) onMachines(ctx context.Context) (run.Machines, error) {
	m := i.run.Machines
	switch {
	case m.On == "" || i.onlyHere:
		return nil, nil
	case i.machines != nil:
		return i.machines, nil
	case i.Streams.Machines == nil:
		return nil, fmt.Errorf("%s: this program was built without several machines (build tag nocluster)", i.run.As("machines.on"))
	}
	opened, err := i.Streams.Machines(ctx, MachineOptions{
		Machines: m, Version: i.Version, Secret: func(text string) { i.Secrets.Add(text) }, Note: func(text string) { fmt.Fprintf(i.Err, "note: %s\n", text) }, As: i.run.As,
	})
	if err == nil {
		i.machines = opened
	}
	return i.machines, err
}

// close lets the machines of the session go.
func (i *invocation) close() error {
	if i.machines == nil {
		return nil
	}
	return i.machines.Close()
}

// statusLost is the exit status of a run that ended because a machine was lost.
const statusLost = 3

// isLoss reports whether an error is the loss of a machine.
func isLoss(err error) bool {
	var lost *run.MachineLostError
	return errors.As(err, &lost)
}
