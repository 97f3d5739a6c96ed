package metric

import "fmt"

// Limits for the share of the prompt tokens from a cache that the run does not explain, in percentage points.
const (
	warmNote    = 3  // for a note
	warmVerdict = 10 // for a part of the verdict
)

// usageSource is the CacheSource if the usage of the answers reports cached tokens.
const usageSource = "usage"

// CacheUse describes how much of the prompts came from a prefix cache of the server, and how much of that the run explains. Shares are percent of the
// prompt tokens of valid requests.
type CacheUse struct {
	CacheSource      string  // source of CacheReported: "usage", or the name of the server's counter; "" = no report
	CacheReported    float64 // cached tokens, as the server counts them
	CacheExpected    float64 // tokens of text that other requests of the run share, from the beginning of the text
	CacheExpectedMax float64 // maximum from a cache that was empty before the run; 100 = unknown
	CacheCounter     string  // name of the server's counter if CacheReported comes from usage and both are known
	CacheCounted     float64 // the share by that counter
	EarlierRun       string  // directory of an earlier run that sent the same prompts to this server; "" = none found, or the server reports cache use
}

// Excess returns by how many points the server's share exceeds what the run explains; 0 = not at all, or no report. If usage and counters differ, the
// smaller share counts, because usage also includes tokens that workers pass to each other.
func (c *CacheUse) Excess() float64 {
	reported := c.CacheReported
	if c.CacheCounter != "" {
		reported = min(reported, c.CacheCounted)
	}
	return c.excessOf(reported)
}

// excessOf returns by how many points a reported share exceeds what the run explains.
func (c *CacheUse) excessOf(reported float64) float64 {
	if c.CacheSource == "" {
		return 0
	}
	return max(0, reported-c.CacheExpectedMax)
}

// Warm reports whether the cache was so warm before the run that the latencies differ from those of a cold server.
func (c *CacheUse) Warm() bool { return c.Excess() >= warmVerdict }

// warmSentence names the shares, their source, and how to make the cache cold; "" = there is nothing to report.
func (c *CacheUse) warmSentence() string {
	if c.excessOf(c.CacheReported) < warmNote {
		return ""
	}
	if c.Excess() < warmNote {
		return fmt.Sprintf("The server's usage says that %.0f %% of the prompt tokens came from a cache; its counter %s says %.0f %%. The two disagree (for example because workers pass "+
			"prompts to each other), so the verdict does not assume a warm cache.", c.CacheReported, c.CacheCounter, c.CacheCounted)
	}
	share := fmt.Sprintf("%.0f %%", c.CacheExpected)
	if c.CacheExpectedMax-c.CacheExpected >= 1 {
		share += fmt.Sprintf(" (with the chat template at most %.0f %%)", c.CacheExpectedMax)
	}
	return fmt.Sprintf("According to the server's %s, %.0f %% of the prompt tokens came from a cache, but this run's prompts share only %s: an earlier run or another client warmed it. "+
		"For a cold cache change {random_seed}, or use {datasets.main.prompts.cache_bust.target} or {endpoint.reset_kv_cache}.", c.reporter(), c.CacheReported, share)
}

// reporter returns the name of the source of CacheReported.
func (c *CacheUse) reporter() string {
	switch {
	case c.CacheSource != usageSource:
		return "counter " + c.CacheSource
	case c.CacheCounter != "":
		return fmt.Sprintf("%s (its counter %s: %.0f %%)", usageSource, c.CacheCounter, c.CacheCounted)
	}
	return usageSource
}

// cacheNote returns the note about the cache; "" = none.
func (c *CacheUse) cacheNote() string {
	switch {
	case c.Warm(): // part of the verdict
		return ""
	case c.CacheSource == "" && c.EarlierRun != "":
		return fmt.Sprintf("The run in %s sent the same prompts to this server before, so this run may have used a warm prefix cache. "+
			"Change {random_seed}, or use {datasets.main.prompts.cache_bust.target} or {endpoint.reset_kv_cache}.", c.EarlierRun)
	}
	return c.warmSentence()
}

// warm adds a cache that was warm before the run to the verdict. The measurement is exact, but a cold server would be slower.
func (v *Validity) warm() {
	if !v.Warm() || v.Verdict == VerdictNoResult {
		return
	}
	if v.Verdict == VerdictValid {
		v.Verdict = VerdictUncertain
	}
	v.Reason = v.warmSentence() + " " + v.Reason
}
