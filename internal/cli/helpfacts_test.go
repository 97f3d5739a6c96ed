package cli

import (
	"strings"
	"testing"

	"aiperf/internal/cli/resolve"
)

// TestHelpFacts: facts that a shortened help text must keep. Each was lost or false once.
func TestHelpFacts(t *testing.T) {
	for flag, facts := range map[string][]string{
		"--convergence-threshold":     {"below", "distribution", "above"}, // a p-value must be above the limit, other tests below
		"--network-latency-automatic": {"adds"},                           // the measured latencies stay as they are
	} {
		f, _, ok := resolve.Flags.Lookup(flag)
		if !ok {
			t.Fatalf("there is no flag %s", flag)
		}
		for _, fact := range facts {
			if !strings.Contains(f.Help, fact) {
				t.Errorf("%s: the help %q lacks %q", flag, f.Help, fact)
			}
		}
	}
	compare, _, err := (&Program{}).root().Find([]string{"compare"})
	if err != nil {
		t.Fatal(err)
	}
	help := compare.Flags().Lookup("margin").Usage
	for _, fact := range []string{"default 5%", "p90", "0.5 points"} {
		if !strings.Contains(help, fact) {
			t.Errorf("compare --margin: the help %q lacks %q", help, fact)
		}
	}
}
