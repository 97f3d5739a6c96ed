//go:build nocluster

package main

import (
	"context"

	"aiperf/internal/cli"
	"aiperf/internal/series/plan"
)

// This program was built without several machines.
var (
	openMachines func(ctx context.Context, o plan.MachineOptions) (plan.Machines, error)
	work         func(ctx context.Context, o cli.WorkOptions) int
)
