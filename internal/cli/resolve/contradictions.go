package resolve

import (
	"slices"

	"aiperf/internal/config"
)

// contradictions refuses flags that set one setting to two values. Only the command line can do that: the resolved run and a file have one value
// there.
func (r *resolver) contradictions() {
	for _, pair := range []struct{ a, b, why string }{
		{"--user-centric-rate", "--request-rate", "give one of them"},
		{"--measurement-interval", "--request-count", "give one of them"},
		{"--measurement-interval", "--benchmark-duration", "give one of them"},
		{"--network-latency-automatic", "--network-latency-mean", "measure the round trip, or give it"},
		{"--resume", "--artifact-dir", "the series continues in the directory of --resume"},
	} {
		if r.has(pair.a) && r.has(pair.b) {
			r.fail("%s and %s: %s", r.spelled(pair.a), r.spelled(pair.b), pair.why)
		}
	}
	for _, pair := range []struct {
		on     bool
		a, off string
	}{
		{r.on("--fixed-schedule"), "--fixed-schedule", "--no-fixed-schedule"},
		{r.has("--gpu-telemetry"), "--gpu-telemetry", "--no-gpu-telemetry"},
		{r.has("--server-metrics"), "--server-metrics", "--no-server-metrics"},
	} {
		if pair.on && r.on(pair.off) {
			r.fail("%s and %s contradict each other", r.spelled(pair.a), r.spelled(pair.off))
		}
	}
	if r.has("--resume") && r.run.MultiRun.NumRuns == 1 && r.run.Sweep == nil {
		r.fail("%s needs a series: --num-profile-runs above 1 or a sweep", r.spelled("--resume"))
	}
	r.legacy()
	r.patterns()
}

// legacy refuses flags that only GenAI-Perf had, if strict mode is requested. Flags that have another name here are refused when they are translated.
func (r *resolver) legacy() {
	if !r.on(config.NoLegacyFlags) {
		return
	}
	for _, row := range config.SharedRows() {
		if row.Group == config.GroupGenAIPerf && row.NoEffect != "" && r.has(row.Name()) {
			r.fail("%s is a flag of GenAI-Perf, which %s refuses; here %s", r.spelled(row.Name()), config.NoLegacyFlags, row.NoEffect)
		}
	}
	if g := r.set.Get("--goodput"); g != nil && slices.Contains(g.Spelled, "-g") {
		r.translated("-g", "--goodput")
	}
	for _, list := range []struct{ flag, between string }{{"--model", "commas"}, {"--goodput", "blanks, in quotes"}} {
		if g := r.set.Get(list.flag); g != nil && len(g.Values) > len(g.Spelled) {
			r.translated("several words behind "+r.spelled(list.flag), "one word with "+list.between)
		}
	}
}

// patterns checks that the arrival pattern agrees with the other load flags: together they select one type of phase (specification: rows 8, 14, 15).
func (r *resolver) patterns() {
	l := &r.load
	pattern := r.set.Text("--arrival-pattern", "")
	switch {
	case pattern == "":
	case l.users || l.fixed:
		r.warn("%s has no effect in this mode", r.spelled("--arrival-pattern"))
	case l.rated && pattern == burst:
		r.fail("%s %s contradicts a rate; allowed are constant, poisson, gamma", r.spelled("--arrival-pattern"), burst)
	case !l.rated && pattern != burst:
		r.warn("%s has no effect without --request-rate", r.spelled("--arrival-pattern"))
	}
	if r.has("--warmup-request-rate") && r.set.Text("--warmup-arrival-pattern", "") == burst {
		r.fail("%s %s contradicts %s", r.spelled("--warmup-arrival-pattern"), burst, r.spelled("--warmup-request-rate"))
	}
}

// burst is the arrival pattern of a run without a rate: the concurrency alone limits how many requests are sent at once.
const burst = "concurrency_burst"
