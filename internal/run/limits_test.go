package run

import (
	"strings"
	"testing"

	"aiperf/internal/load"
	"aiperf/internal/transport"
)

func TestBudget(t *testing.T) {
	target := func(url string) *transport.Target {
		tg, err := transport.NewTarget(url)
		if err != nil {
			t.Fatal(err)
		}
		return tg
	}
	one := []*transport.Target{target("http://127.0.0.1:9000/x")}
	two := []*transport.Target{one[0], target("http://127.0.0.2:9000/x")}
	b := budget{files: 1064, ports: 500}
	tests := []struct {
		name    string
		phase   load.Phase
		targets []*transport.Target
		reuse   transport.Reuse
		warns   string
		fails   string
	}{
		{"enough", load.Phase{Concurrency: 500}, one, transport.Pooled, "", ""},
		{"more than files", load.Phase{Concurrency: 1001}, one, transport.Pooled, "", "ulimit -n"},
		{"more than ports", load.Phase{Concurrency: 501}, one, transport.Pooled, "above the 500 local ports", ""},
		{"two addresses have twice the ports", load.Phase{Concurrency: 501}, two, transport.Pooled, "", ""},
		{"ports in TIME_WAIT", load.Phase{Rate: 10}, one, transport.Never, "10 new connections a second", ""},
		{"kept connections do not wait", load.Phase{Rate: 10}, one, transport.Pooled, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			warnings, err := b.check(load.Plan{Phases: []load.Phase{tt.phase}}, tt.targets, tt.reuse, nil)
			if got := strings.Join(warnings, "\n"); (tt.warns == "") != (got == "") || !strings.Contains(got, tt.warns) {
				t.Errorf("warnings %q, want %q", got, tt.warns)
			}
			if (tt.fails == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
		})
	}
}
