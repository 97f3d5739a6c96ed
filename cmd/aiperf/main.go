// Command aiperf benchmarks LLM inference servers.
package main

import (
	"context"
	"os"

	_ "aiperf/internal/base/openfiles" // first of all
	plugins "aiperf/internal/base/plugin/program"
	"aiperf/internal/cli"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/series/plan"
)

func main() {
	p := &cli.Program{Name: os.Args[0], Streams: cli.Standard(), Profile: profile, Check: check, Watch: plan.Watch, Capacity: findCapacity, Turns: takeTurns, Work: work, Kube: kubeTools()}
	status := cli.Main(context.Background(), p, os.Args[1:])
	plugins.KillAll() // an interrupted command does not wait for what it abandoned
	os.Exit(status)
}

func profile(ctx context.Context, run *config.Run, s cli.Streams) int {
	return plan.Profile(ctx, run, streams(s))
}

func findCapacity(ctx context.Context, run *config.Run, o plan.CapacityOptions, s cli.Streams) int {
	return plan.Capacity(ctx, run, o, streams(s))
}

func takeTurns(ctx context.Context, run *config.Run, o plan.TurnOptions, s cli.Streams) (*comparison.Result, error) {
	return plan.Turns(ctx, run, o, streams(s))
}

func streams(s cli.Streams) plan.Streams {
	return plan.Streams{
		StepSummary: os.Getenv("GITHUB_STEP_SUMMARY"), Machines: openMachines,
		Out: s.Out, Err: s.Err, Width: s.Width, Resized: s.Resized, Paint: s.Paint, Terminal: s.Terminal, Colour: s.Colour, ASCII: s.ASCII, Progress: s.Progress, Dashboard: s.Dashboard, Version: cli.Version(), Args: cli.ReportedWords(os.Args, s.Environ),
		Notes: s.Notes, Warnings: s.Warnings, Secrets: s.Secrets, Next: cli.NextSteps,
	}
}

func check(ctx context.Context, run *config.Run, s cli.Streams) (string, error) {
	return plan.Check(ctx, run, plan.Streams{Err: s.Err, Version: cli.Version()})
}
