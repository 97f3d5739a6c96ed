package run

import (
	"strings"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/results"
	"aiperf/internal/workload/load"
)

// outcome collects the facts about the whole run for its results.
func outcome(cfg *config.Benchmark, opts *Options, result *load.Result, window metric.Window, logFile string) results.Outcome {
	o := results.Outcome{
		Version: opts.Version, Info: opts.Info, InputConfig: opts.InputConfig,
		Window: window, LogFile: logFile,
	}
	if result == nil {
		return o
	}
	o.Cancelled = result.Interrupted
	switch {
	case result.Interrupted:
		o.IncompleteReason = "Run cancelled before all records were processed."
	case result.TooManyFail:
		o.IncompleteReason = "Run aborted: " + load.ErrFailures.Error() + " (" + cfg.As("phases.profiling.failed_request_threshold") + ")."
	}
	for _, f := range result.Phases {
		o.Phases = append(o.Phases, results.Phase{
			Name: f.Info.Name, Index: f.Info.Index, Profiling: f.Info.Profiling, Warmup: f.Info.Warmup, Cancelled: f.Interrupted,
			Window: metric.Window{From: clock.Wall(f.Started), To: clock.Wall(f.Ended)},
		})
	}
	return o
}

// judge adds the verdict to a finished run.
func judge(run *metric.Run, result *load.Result, client metric.ClientStats, as func(key string) string) {
	if result != nil && result.Unreachable != nil && run.IncompleteReason == "" {
		run.IncompleteReason = "Run aborted: " + unreachable(result.Unreachable, run.Profiling, as("environment.timing.no_fail_fast")) + "."
	}
	run.Validity = metric.Assess(client, run.Profiling, config.FlagOf)
	run.Validity.Observe(run.Probe)
}

// keyless reports whether the settings of an endpoint contain nothing that could identify the sender. Any header may.
func keyless(e *config.Endpoint) bool {
	for _, u := range e.URLs {
		if strings.ContainsAny(u, "@?") {
			return false
		}
	}
	return e.APIKey == "" && len(e.Headers) == 0 && e.TLS.CertFile == ""
}

// profilingWindow returns the wall time from the start of the first profiling phase to the end of the last, and the statistics of these phases.
func profilingWindow(result *load.Result) (metric.Window, []*load.PhaseStats) {
	var w metric.Window
	var list []*load.PhaseStats
	if result == nil {
		return w, nil
	}
	for _, f := range result.Phases {
		if f.Info.Warmup || f.Started == 0 {
			continue
		}
		list = append(list, f)
		if w.From == 0 || clock.Wall(f.Started) < w.From {
			w.From = clock.Wall(f.Started)
		}
		if f.Ended != 0 {
			w.To = max(w.To, clock.Wall(f.Ended))
		}
	}
	return w, list
}

// branchStats returns the sums of the profiling phases; nil if no session started others.
func branchStats(result *load.Result) *metric.BranchStats {
	var all *metric.BranchStats
	_, phases := profilingWindow(result)
	for _, f := range phases {
		if f.Branches == nil {
			continue
		}
		if all == nil {
			all = &metric.BranchStats{}
		}
		one := metric.BranchStats(*f.Branches)
		all.Add(&one)
	}
	return all
}
