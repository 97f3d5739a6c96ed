package results

import (
	"context"
	"fmt"
	"os"

	"aiperf/internal/config"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
)

// Problems loads the problems of the benchmark that the settings name; nil if they name none. download is called with the progress of downloads, note
// with other messages of the hub.
func Problems(ctx context.Context, b *config.Benchmark, download func(file string, done, total int64), note func(string)) (*accuracy.Set, error) {
	a := b.Accuracy
	if a == nil {
		return nil, nil
	}
	from := hfhub.FromEnv(os.Getenv)
	from.Progress, from.Notice = download, note
	return accuracy.Load(ctx, accuracy.Options{
		Benchmark: a.Benchmark, Tasks: a.Tasks, Shots: a.NShots, CoT: a.EnableCoT, System: a.SystemPrompt, Dir: a.DatasetPath,
		Release: b.Environment.Accuracy.LCBReleaseTag, Pin: b.Environment.Accuracy.BFCLVersionPin, Hub: from, Spell: b.As, Log: note,
	})
}

// Grader returns the grader of the answers: the one that the settings name, else the benchmark's own; nil without a benchmark. It returns an error if
// the grader cannot work on this machine.
func Grader(ctx context.Context, b *config.Benchmark) (*grade.Grader, error) {
	if b.Accuracy == nil {
		return nil, nil
	}
	name := b.Accuracy.Grader
	if of := accuracy.Find(b.Accuracy.Benchmark); name == "" && of != nil {
		name = of.Grader
	}
	g, err := grade.Find(name)
	if err == nil && g.Check != nil {
		if fault := g.Check(ctx); fault != nil {
			err = fmt.Errorf("%s cannot run here: %w", name, fault)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.As("accuracy.grader"), err)
	}
	return g, nil
}
