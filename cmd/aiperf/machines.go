//go:build !nocluster

package main

import (
	"context"
	"errors"
	"os"

	"aiperf/internal/cli"
	"aiperf/internal/run/cluster"
	"aiperf/internal/series/plan"
)

// openMachines opens the machines of a session.
func openMachines(ctx context.Context, o plan.MachineOptions) (plan.Machines, error) {
	return cluster.Open(ctx, cluster.Options{Machines: o.Machines, Version: o.Version, Secret: o.Secret, Note: o.Note, As: o.As, Words: cli.WorkerWords})
}

// work makes this process one of the machines of a run.
func work(ctx context.Context, o cli.WorkOptions) int {
	err := cluster.Work(ctx, cluster.WorkerOptions{Join: o.Join, Token: o.Token, Name: o.Name, Version: cli.Version(), Err: os.Stderr, Secrets: o.Secrets, Spare: o.Spare, Joined: o.Joined})
	if err == nil {
		return 0
	}
	o.Errorf("%v", err)
	var end *cluster.EndError
	if errors.As(err, &end) {
		return end.Status
	}
	return 1
}
