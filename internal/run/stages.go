package run

import (
	"context"
)

// stage is one step of a run's start. What it needs is there from the stages before it.
type stage struct {
	name string
	do   func(*runner, context.Context) error
}

// resolving are the stages that find what may be refused, without writing or sending anything.
var resolving = []stage{
	{"endpoint", (*runner).resolveEndpoint},
	{"metrics", (*runner).resolveMetrics},
	{"dataset", (*runner).resolveDataset},
	{"schedule", (*runner).resolveSchedule},
	{"tokenizers", (*runner).resolveTokenizers},
	{"templates", func(r *runner, _ context.Context) error { return r.warnOfTemplates() }},
	{"plan", (*runner).resolvePlan},
}

// opening are the stages that make the connections, files and workers of the run.
var opening = []stage{
	{"servers", (*runner).openServers},
	{"connections", (*runner).openConnections},
	{"artifacts", func(r *runner, _ context.Context) error { return r.openFiles() }},
	{"executor", (*runner).openExecutor},
	{"results", (*runner).openResults},
	{"load", (*runner).openLoad},
	{"inputs", (*runner).openInputs},
}

// pass goes through stages until one refuses.
func (r *runner) pass(ctx context.Context, stages []stage) error {
	for _, one := range stages {
		if err := one.do(r, ctx); err != nil {
			r.log.Debug("refused", "stage", one.name, "error", err)
			return err
		}
	}
	return nil
}
