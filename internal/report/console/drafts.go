package console

import (
	"fmt"
	"strings"

	"aiperf/internal/measure/metric"
)

// draftBuckets is the number of buckets of draft tokens that are shown one by one.
const draftBuckets = 8

// drafts writes the table of speculative decoding: how many tokens that the server drafted were accepted per step.
func (d *drawing) drafts() {
	steps, all := d.run.Profiling.DraftSteps, int64(0)
	for _, n := range steps {
		all += n
	}
	if steps == nil {
		return
	}
	d.metrics(d.run.Title+": Spec Decode", func(m *metric.Metric) bool { return m.Group == "spec_decode" })
	if all == 0 {
		return
	}
	var parts []string
	say := func(name string, n int64) {
		parts = append(parts, fmt.Sprintf("%s: %.0f%%", name, 100*float64(n)/float64(all)))
	}
	last, folded := 0, int64(0)
	for i, n := range steps {
		if n > 0 {
			last = i
		}
		if i >= draftBuckets {
			folded += n
		}
	}
	for i := range min(last+1, draftBuckets) {
		say(fmt.Sprint(i), steps[i])
	}
	if folded > 0 {
		say(fmt.Sprintf(">=%d", draftBuckets), folded)
	}
	d.say("  Accepted drafts per step (%% of steps):  %s\n", strings.Join(parts, "   "))
}
