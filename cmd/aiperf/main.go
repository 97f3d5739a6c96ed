// Command aiperf benchmarks LLM inference servers.
package main

import (
	"context"
	"os"

	"aiperf/internal/cli"
	"aiperf/internal/config"
	"aiperf/internal/plan"
)

func main() {
	p := &cli.Program{Name: os.Args[0], Streams: cli.Standard(), Profile: profile, Check: check, Watch: plan.Watch}
	os.Exit(cli.Main(context.Background(), p, os.Args[1:]))
}

func profile(ctx context.Context, run *config.Run, s cli.Streams) int {
	return plan.Profile(ctx, run, plan.Streams{
		StepSummary: os.Getenv("GITHUB_STEP_SUMMARY"),
		Out:         s.Out, Err: s.Err, Width: s.Width, Terminal: s.Terminal, Colour: s.Colour, Progress: s.Progress, Version: cli.Version(), Args: os.Args[1:],
		Notes: s.Notes, Warnings: s.Warnings, Secrets: s.Secrets,
	})
}

func check(ctx context.Context, run *config.Run, s cli.Streams) (string, error) {
	return plan.Check(ctx, run, plan.Streams{Err: s.Err, Version: cli.Version()})
}
