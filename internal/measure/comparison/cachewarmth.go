package comparison

import (
	"fmt"
	"strings"

	"aiperf/internal/config"
)

// warmRuns counts the runs of a side by the cache use that their servers reported.
type warmRuns struct {
	warm, unknown int
	sentence      string // warm sentence of the first warm run
}

func countWarmRuns(side []Run) (w warmRuns) {
	for i := range side {
		switch c := &side[i].Cache; {
		case c.Warm():
			if w.warm++; w.sentence == "" {
				w.sentence = fmt.Sprintf("%s: %.0f %% of the prompt tokens came from a cache, but its own prompts explain at most %.0f %%", side[i].Path, c.CacheReported, c.CacheExpectedMax)
			}
		case c.CacheSource == "":
			w.unknown++
		}
	}
	return w
}

// caches returns an error if one side met a prefix cache that was warm before the run more often than the other. With Options.Invalid it adds a note
// and withholds the judgement instead. If the other side's cache use is unknown, it only adds a note.
func (r *Result) caches() error {
	more, less, names := countWarmRuns(r.A), countWarmRuns(r.B), [2]string{"A", "B"}
	all, others := len(r.A), len(r.B)
	if more.warm*others < less.warm*all {
		more, less, names = less, more, [2]string{"B", "A"}
		all, others = others, all
	}
	switch {
	case more.warm*others == less.warm*all:
		return nil
	case less.unknown == others:
		r.Notes = append(r.Notes, fmt.Sprintf("%s used a warm prefix cache (%s); the cache state of %s is unknown", names[0], more.sentence, names[1]))
		return nil
	}
	said := fmt.Sprintf("%s used a warm prefix cache and %s a cold one (%s)", names[0], names[1], more.sentence)
	if !r.Options.Invalid {
		return fmt.Errorf("%s. Repeat %s with another %s, with %s or %s, or add %s to see the figures without a judgement", said, names[0],
			config.FlagOf("random_seed"), config.FlagOf("datasets.main.prompts.cache_bust.target"), config.FlagOf("endpoint.reset_kv_cache"), config.FlagOf("allow_invalid"))
	}
	r.Notes = append(r.Notes, said)
	r.withheld = "only one side used a warm prefix cache"
	return nil
}

// pairedCaches adds a note about pairs of which only one run met a warm prefix cache. The order in a pair is random, so both sides are second equally
// often.
func (r *Result) pairedCaches() {
	var pairs []string
	for i := range r.A {
		if a, b := &r.A[i].Cache, &r.B[i].Cache; a.Warm() != b.Warm() {
			pairs = append(pairs, fmt.Sprint(i+1))
		}
	}
	if len(pairs) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("only one side used a warm prefix cache in %d of %d pairs (%s)", len(pairs), len(r.A), strings.Join(pairs, ", ")))
	}
}
