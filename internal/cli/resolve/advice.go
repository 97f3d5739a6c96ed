package resolve

import (
	"fmt"
	"path"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
)

// advise adds notes on values that were chosen for the user, and on possible surprises (spec: cli, section 13).
func (r *resolver) advise() {
	p := r.run.Profiling()
	if p == nil {
		return
	}
	if p.Type == config.PhaseConcurrency && len(r.load.concurrency) == 0 && p.Concurrency != nil && !r.searches("concurrency") {
		r.note("one session at a time; --concurrency sets how many")
	}
	switch unlimited := len(r.load.requests) == 0 && len(r.load.sessions) == 0 && len(r.load.duration) == 0; {
	case !unlimited || p.Requests == nil:
	case p.Type == config.PhaseFixedSchedule:
		r.note("the run ends when the schedule of %s is over: %s", r.run.Dataset().Path, scheduled(p))
	default:
		if as := r.spelled("--num-dataset-entries"); as == "--num-prompts" {
			r.note("%s is the number of prompts in the data set; --request-count sets the number of requests (vLLM's --num-prompts)", as)
		}
		r.note("the run ends after %s; --request-count, --num-sessions or --benchmark-duration sets the end", terminal.Plural(*p.Requests, "request"))
	}
	if p.Type == config.PhaseGamma && r.set.Get("--arrival-pattern") == nil {
		r.note("%s: gaps follow a gamma distribution", r.spelled("--arrival-smoothness"))
	}
	if p.Type.HasRate() && p.Concurrency == nil && p.PrefillConcurrency == nil {
		r.note("the number of concurrent requests is unlimited and grows on a slow server; limit it with --concurrency")
	}
	r.adviseWarmup(p)
	if !r.run.Environment.HTTP.SSLVerify {
		r.warn("AIPERF_HTTP_SSL_VERIFY is off: certificates of servers are not checked")
	}
	if r.run.Endpoint.TLS.Insecure {
		r.warn("%s: certificates of servers are not checked", r.spell("endpoint.tls.insecure"))
	}
}

// scheduled describes the requests of a fixed schedule. How many of them lie between offsets is not known before the file is read.
func scheduled(p *config.Phase) string {
	if p.StartOffset != nil || p.EndOffset != nil {
		return fmt.Sprintf("those of its %s that are due between the offsets", terminal.Plural(*p.Requests, "request"))
	}
	return terminal.Plural(*p.Requests, "request")
}

// searches reports whether the run searches over a key of its phases.
func (r *resolver) searches(key string) bool {
	return r.run.Sweep != nil && slices.ContainsFunc(r.run.Sweep.SearchSpace, func(d config.SearchDimension) bool { return path.Ext(d.Path) == "."+key })
}

// adviseWarmup warns if the run sends prompts that the warm-up has already sent: a prefix cache would answer them from memory.
func (r *resolver) adviseWarmup(p *config.Phase) {
	w, d := r.run.Warmup(), r.run.Dataset()
	if w == nil || w.Requests == nil || p.Requests == nil || d.Type != config.DatasetSynthetic || d.Turns.MeanOr(1) > 1 {
		return
	}
	if sent := *w.Requests + *p.Requests; sent > d.Entries {
		r.warn("%d prompts for %d requests with the warm-up: the run repeats prompts, which a prefix cache may hold; raise their number with %s",
			d.Entries, sent, "--num-dataset-entries")
	}
}
