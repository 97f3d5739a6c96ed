package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
)

// bind stores every given flag whose key has this prefix (except the listed ones) at its key in the run. It skips flags that have their own code.
func (r *resolver) bind(prefix string, except ...string) {
	for _, g := range r.set.All() {
		f := g.Row
		if f.Manual || f.NotBuilt || !strings.HasPrefix(f.Key, prefix) || f.Key == "" || !r.has(f.Name()) || slices.ContainsFunc(except, func(e string) bool { return strings.HasPrefix(f.Key, e) }) {
			continue
		}
		if err := r.run.Put(f.Key, g.Value()); err != nil {
			r.fail("%s: %v", r.spelled(f.Name()), err)
		}
	}
}

// flagsOf lists the flags whose rows satisfy a condition.
func flagsOf(pick func(*setting.Row) bool) []string {
	var names []string
	for i := range Flags.Rows {
		if f := &Flags.Rows[i]; !f.NotBuilt && pick(f) {
			names = append(names, f.Name())
		}
	}
	return names
}

// measuredPhase and warmupPhase are the prefixes of the keys of a phase's settings.
const (
	measuredPhase = "phases.profiling."
	warmupPhase   = "phases.warmup."
)

func withKey(prefix string) func(*setting.Row) bool {
	return func(f *setting.Row) bool { return strings.HasPrefix(f.Key, prefix) }
}

// put stores one value at a key of the run. The key must exist.
func (r *resolver) put(key string, value any) {
	if err := r.run.Put(key, value); err != nil {
		r.fail("%v", err)
	}
}

// inherit copies settings to the warm-up that have no value there: the value of the same key of the measured phase, if a flag gives one that is not
// swept. Stop conditions are not inherited.
func (r *resolver) inherit() {
	for _, f := range config.SharedRows() {
		rest, ok := strings.CutPrefix(f.Key, warmupPhase)
		if !ok || f.Manual || f.Trigger || f.NotBuilt || r.has(f.Name()) || rest == "grace_period" {
			continue
		}
		for _, from := range config.RowsOf(measuredPhase + rest) {
			if g := r.set.Get(from.Name()); g != nil && r.has(from.Name()) && len(g.Numbers()) < 2 {
				r.put(f.Key, g.Value())
			}
		}
	}
}
