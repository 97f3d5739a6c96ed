package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/config"
)

func unrated(r *resolver) bool    { return !r.load.rated }
func unstreamed(r *resolver) bool { return !r.run.Endpoint.Streaming }

// loadRules say which load flags exclude or need each other.
var loadRules = []rule{
	{row: "1", test: func(r *resolver) (string, bool) {
		if r.file == nil || !r.file.Format.Built() || r.file.Timed {
			return "", false
		}
		return r.file.First + ": the first row has no timestamp, which " + r.as("--fixed-schedule") + " needs", r.load.fixed
	}},
	{row: "2", test: func(r *resolver) (string, bool) {
		return r.as("--fixed-schedule") + " and " + r.as("--no-fixed-schedule") + " contradict each other",
			r.on("--fixed-schedule") && r.on("--no-fixed-schedule")
	}},
	{row: "3 E2", test: func(r *resolver) (string, bool) {
		names := r.given("--request-rate", "--request-rate-series", "--user-centric-rate", "--arrival-smoothness")
		if r.load.promoted {
			names = append(names, r.given("--num-users")...)
		}
		return strings.Join(names, ", ") + " cannot be combined with " + r.schedule(), r.load.fixed && len(names) > 0
	}},
	{row: "6 E11", test: anyWhen(func(r *resolver) bool { return r.load.promoted }, "without --fixed-schedule: a schedule that nobody wrote is not shifted",
		"--fixed-schedule-auto-offset", "--fixed-schedule-start-offset", "--fixed-schedule-end-offset")},
	{row: "8 E13", test: func(r *resolver) (string, bool) {
		s := r.set.Text("--dataset-sampling-strategy", "sequential")
		return r.as("--dataset-sampling-strategy") + " " + s + ": " + r.schedule() + " has an order of its own; allowed is sequential", r.load.fixed && s != "sequential"
	}},
	{row: "9 E17", test: func(r *resolver) (string, bool) {
		swept := r.swept()
		return strings.Join(swept, ", ") + ": a list of values cannot be swept over " + r.schedule(), r.load.fixed && len(swept) > 0
	}},
	{row: "10 E3", test: together("--user-centric-rate", "--request-rate", "give one of them")},
	{row: "10 E7", test: together("--user-centric-rate", "--request-rate-series", "give one of them")},
	{row: "10 E3", test: together("--user-centric-rate", "--arrival-smoothness", "users do not arrive by a law of gaps")},
	{row: "8", test: anyWhen(func(r *resolver) bool { return r.load.users || r.load.fixed }, "has no effect in this mode", "--arrival-pattern"), warn: true},
	{row: "11 E9", test: needs("--user-centric-rate", "--num-users", "say how many users share the rate")},
	{row: "11 E8", test: needs("--num-users", "--user-centric-rate", "users are for that mode only")},
	{row: "12 E10", test: func(r *resolver) (string, bool) {
		return r.as("--user-centric-rate") + " needs conversations of several turns; " + r.as("--input-file") + " is a single_turn file",
			r.load.users && r.file != nil && r.file.Format.Name == "single_turn"
	}},
	{row: "14 E20", test: func(r *resolver) (string, bool) {
		return r.as("--arrival-pattern") + " concurrency_burst contradicts a rate; allowed are constant, poisson, gamma",
			r.load.rated && r.set.Text("--arrival-pattern", "") == "concurrency_burst"
	}},
	{row: "14 E20", test: func(r *resolver) (string, bool) {
		return r.as("--warmup-arrival-pattern") + " concurrency_burst contradicts " + r.as("--warmup-request-rate"),
			r.has("--warmup-request-rate") && r.set.Text("--warmup-arrival-pattern", "") == "concurrency_burst"
	}},
	{row: "15 E4", test: anyWhen(func(r *resolver) bool { return unrated(r) && !r.load.users && !r.load.fixed }, "needs --request-rate", "--arrival-smoothness")},
	{row: "15 E4", test: func(r *resolver) (string, bool) {
		p := r.set.Text("--arrival-pattern", "concurrency_burst")
		return r.as("--arrival-pattern") + " has no effect without --request-rate", unrated(r) && !r.load.users && !r.load.fixed && p != "concurrency_burst"
	}, warn: true},
	{row: "16 E5", test: func(r *resolver) (string, bool) {
		p := r.set.Text("--arrival-pattern", "gamma")
		return r.as("--arrival-smoothness") + " is for gamma gaps, not for " + r.as("--arrival-pattern") + " " + p, r.has("--arrival-smoothness") && p != "gamma"
	}},
	{row: "18", test: (*resolver).seriesFault},
	{row: "18 E7", test: together("--request-rate-series", "--request-rate", "give one of them")},
	{row: "19 E1", test: anyWhen(unstreamed, "needs --streaming: only a stream shows its first token",
		"--prefill-concurrency-ramp-duration")},
	{row: "8", test: anyWhen(unstreamed, "has no effect without --streaming", "--warmup-prefill-concurrency-ramp-duration"), warn: true},
	{row: "21 E21", test: surplus("--request-count"), warn: true},
	{row: "21 E21", test: surplus("--num-sessions"), warn: true},
	{row: "8", test: anyWhen(func(r *resolver) bool { return r.load.users }, "has no effect: the users' rate sets their pauses",
		"--session-turn-delay-mean", "--session-turn-delay-stddev", "--session-delay-ratio", "--inter-turn-delay-cap-seconds"), warn: true},
	{row: "15.1", test: together("--measurement-interval", "--request-count", "give one of them")},
	{row: "15.1", test: together("--measurement-interval", "--benchmark-duration", "give one of them")},
	{row: "24 E18", test: needs("--warmup-grace-period", "--warmup-duration", "there is no deadline without one")},
	{row: "25 E16", test: func(r *resolver) (string, bool) {
		return r.as("--request-cancellation-delay") + " needs --request-cancellation-rate",
			r.has("--request-cancellation-delay") && r.set.Get("--request-cancellation-rate") == nil
	}},
	{row: "28", test: func(r *resolver) (string, bool) {
		s := r.set.Floats("--slice-duration")
		return r.as("--slice-duration") + " is as long as the run: there will be one slice", len(s) > 0 && len(r.load.duration) > 0 && s[0] >= slices.Min(r.load.duration)
	}, warn: true},
	{row: "8", test: func(r *resolver) (string, bool) {
		return r.as("--concurrency-ramp-duration") + " has no effect: the concurrency is 1 or unlimited", r.has("--concurrency-ramp-duration") && len(r.load.concurrency) == 0
	}, warn: true},
	{row: "8", test: func(r *resolver) (string, bool) {
		return r.as("--prefill-concurrency-ramp-duration") + " has no effect without --prefill-concurrency",
			r.has("--prefill-concurrency-ramp-duration") && len(r.load.prefill) == 0
	}, warn: true},
}

// seriesFault says what is wrong with the file of a rate series.
func (r *resolver) seriesFault() (string, bool) {
	_, err := r.series()
	return fmt.Sprintf("%s: %v", r.as("--request-rate-series"), err), err != nil
}

// series reads the rate series of the measured phase, if it has one. A pipe gives its text once, so that is left to the run.
func (r *resolver) series() ([]config.RatePoint, error) {
	p := r.run.Profiling()
	if p == nil || p.RateSeries == "" {
		return nil, nil
	}
	if info, err := os.Stat(p.RateSeries); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil
	}
	return config.ReadRateSeries(p.RateSeries)
}

// surplus warns of slots that can never be filled.
func surplus(flag string) func(*resolver) (string, bool) {
	return func(r *resolver) (string, bool) {
		n, c := r.set.Ints(flag), r.load.concurrency
		if len(n) == 0 || len(c) == 0 {
			return "", false
		}
		return fmt.Sprintf("--concurrency %d is above %s %d and cannot be reached", slices.Max(c), r.as(flag), slices.Min(n)), slices.Max(c) > slices.Min(n)
	}
}
