package metric

import "fmt"

// By how many points more of the prompt tokens must have come from a cache than the run explains.
const (
	warmNote    = 3  // for a note
	warmVerdict = 10 // for a part of the verdict
)

// CacheUse is how much of the prompts came from a prefix cache of the server, and how much of that the run itself explains. In percent of the prompt
// tokens of valid requests.
type CacheUse struct {
	CacheSource      string  // of CacheReported: "usage", or the name of the server's counter; "" = the server reports nothing
	CacheReported    float64 // tokens that came from a cache, as the server counts
	CacheExpected    float64 // tokens of text that another request of the run has as well, from the beginning of the same text
	CacheExpectedMax float64 // the most that can have come from a cache that was empty before the run; 100 = not known
	EarlierRun       string  // directory of an earlier run that sent the same prompts to this server; "" = none was found, or the server reports
}

// Excess returns by how many points the server's share is above what the run explains; 0 = it is not, or the server reports nothing.
func (c *CacheUse) Excess() float64 {
	if c.CacheSource == "" {
		return 0
	}
	return max(0, c.CacheReported-c.CacheExpectedMax)
}

// Warm reports whether the cache was so warm before the run that the latencies are not those of a cold server.
func (c *CacheUse) Warm() bool { return c.Excess() >= warmVerdict }

// warmSentence names both shares and what would make the cache cold; "" = there is nothing to say.
func (c *CacheUse) warmSentence() string {
	if c.Excess() < warmNote {
		return ""
	}
	share := fmt.Sprintf("%.0f %%", c.CacheExpected)
	if c.CacheExpectedMax-c.CacheExpected >= 1 {
		share += fmt.Sprintf(" (with the chat template at most %.0f %%)", c.CacheExpectedMax)
	}
	return fmt.Sprintf("%.0f %% of the prompt tokens came from a cache, this run's own prompts share %s: an earlier run or another client warmed it. "+
		"For a cold cache change {random_seed}, or use {datasets.main.prompts.cache_bust.target} or {endpoint.reset_kv_cache}.", c.CacheReported, share)
}

// cacheNote is what the notes say of the cache; "" = nothing.
func (c *CacheUse) cacheNote() string {
	switch {
	case c.Warm(): // the verdict says it
		return ""
	case c.CacheSource == "" && c.EarlierRun != "":
		return fmt.Sprintf("The run in %s sent the same prompts to this server before: a prefix cache may have answered part of this one. "+
			"Change {random_seed}, or use {datasets.main.prompts.cache_bust.target} or {endpoint.reset_kv_cache}.", c.EarlierRun)
	}
	return c.warmSentence()
}

// warm makes a cache that was warm before the run a part of the verdict. What was measured is exact, but it is not what a cold server would do.
func (v *Validity) warm() {
	if !v.Warm() || v.Verdict == VerdictNoResult {
		return
	}
	if v.Verdict == VerdictValid {
		v.Verdict = VerdictUncertain
	}
	v.Reason = v.warmSentence() + " " + v.Reason
}

// Measured reports whether the figures of a run are those of what it met: the client was not the limit, and the judged statistics are exact. A warm cache
// makes a verdict uncertain, but not the figures. A run without a verdict is measured.
func (r *Run) Measured() bool {
	v := r.Validity
	switch {
	case v == nil || v.Verdict != VerdictClientLimited && v.Verdict != VerdictUncertain:
		return true
	case v.Verdict == VerdictClientLimited || !v.Warm():
		return false
	}
	for _, tag := range judgedTags {
		m, ok := r.Profiling.Get(tag)
		for _, s := range judgedStats {
			if ok && !r.Exact(&m, s) {
				return false
			}
		}
	}
	return true
}
