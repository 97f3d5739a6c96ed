package connection

import (
	"net/netip"
	"strings"
	"testing"

	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
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
	b := Limits{files: 1064, spare: 64, ports: 500}
	tests := []struct {
		name    string
		phase   load.Phase
		targets []*transport.Target
		reuse   transport.Reuse
		warns   string
		fails   string
	}{
		{"enough", load.Phase{Concurrency: 500}, one, transport.Pooled, "", ""},
		{"more than files", load.Phase{Mode: load.ClosedLoop, Concurrency: 1001}, one, transport.Pooled, "", "<phases.profiling.concurrency> 1001 of phase  needs 1001 connections"},
		{"no more than requests", load.Phase{Mode: load.ClosedLoop, Concurrency: 100000, Requests: 500}, one, transport.Pooled, "", ""},
		{"no more than sessions", load.Phase{Mode: load.ClosedLoop, Concurrency: 100000, Sessions: 500}, one, transport.Pooled, "", ""},
		{"a ceiling of an open loop", load.Phase{Mode: load.Rate, Rate: 1, Concurrency: 100000}, two, transport.Pooled, "may need 100000 connections", ""},
		{"users", load.Phase{Mode: load.UserCentric, Users: 1001}, one, transport.Pooled, "", "<phases.profiling.users> 1001"},
		{"a warm-up of its own", load.Phase{Mode: load.ClosedLoop, Warmup: true, Concurrency: 1001}, one, transport.Pooled, "", "<phases.warmup.concurrency> 1001"},
		{"more than ports", load.Phase{Concurrency: 501}, one, transport.Pooled, "above the 500 local ports", ""},
		{"two addresses have twice the ports", load.Phase{Concurrency: 501}, two, transport.Pooled, "", ""},
		{"ports in TIME_WAIT", load.Phase{Rate: 10}, one, transport.Never, "10 new connections per second need more than the 500 local ports, because a closed connection blocks its port for 60 s", ""},
		{"kept connections do not wait", load.Phase{Rate: 10}, one, transport.Pooled, "", ""},
	}
	as := func(key string) string { return "<" + key + ">" }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			warnings, err := b.Check(load.Scenario{Phases: []load.Phase{tt.phase}}, tt.targets, transport.Options{Reuse: tt.reuse}, as)
			if got := strings.Join(warnings, "\n"); (tt.warns == "") != (got == "") || !strings.Contains(got, tt.warns) {
				t.Errorf("warnings %q, want %q", got, tt.warns)
			}
			if (tt.fails == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
		})
	}
}

// TestBudgetOfSeveralPhases: a phase that does not wait for the answers of the one before needs its connections in addition to theirs; a warm-up that
// took its concurrency from the run is named by the run's flag.
func TestBudgetOfSeveralPhases(t *testing.T) {
	as := func(key string) string { return key }
	warmup := load.Phase{Name: "warmup", Mode: load.ClosedLoop, Warmup: true, Concurrency: 600}
	run := load.Phase{Name: "profiling", Mode: load.ClosedLoop, Concurrency: 600}
	b := Limits{files: 1000, spare: 50}
	if w, err := b.Check(load.Scenario{Phases: []load.Phase{warmup, run}}, nil, transport.Options{Reuse: transport.Pooled}, as); err != nil || len(w) != 0 {
		t.Errorf("one after the other: %v, %v", w, err)
	}
	run.Seamless = true
	if _, err := b.Check(load.Scenario{Phases: []load.Phase{warmup, run}}, nil, transport.Options{Reuse: transport.Pooled}, as); err == nil || !strings.Contains(err.Error(), "needs 1200 connections") {
		t.Errorf("seamless: %v", err)
	}
	b.files = 500
	if _, err := b.Check(load.Scenario{Phases: []load.Phase{warmup, run}}, nil, transport.Options{Reuse: transport.Pooled}, as); err == nil || !strings.HasPrefix(err.Error(), "phases.profiling.concurrency 600 of phase warmup") {
		t.Errorf("a warm-up as the run: %v", err)
	}
}

// TestLocalAddresses: every local address adds its ports; one that this machine does not have is an error before the run.
func TestLocalAddresses(t *testing.T) {
	as := func(key string) string { return "<" + key + ">" }
	b := Limits{files: 10_000, ports: 500}
	plan := load.Scenario{Phases: []load.Phase{{Concurrency: 999}}}
	for list, wants := range map[string][2]string{
		"127.0.0.1":                    {"above the 500 local ports towards 0 server address(es); requests beyond them will fail. Every address in <endpoint.local_addresses> adds 500 ports", ""},
		"127.0.0.1,127.0.0.2":          {"", ""},
		"127.0.0.1,203.0.113.7,::ffff": {"", "<endpoint.local_addresses> 203.0.113.7: this machine cannot use the address: "},
	} {
		o := transport.Options{Reuse: transport.Pooled}
		for text := range strings.SplitSeq(list, ",") {
			o.LocalAddresses = append(o.LocalAddresses, netip.MustParseAddr(text))
		}
		warnings, err := b.Check(plan, nil, o, as)
		if got := strings.Join(warnings, "\n"); (wants[0] == "") != (got == "") || !strings.Contains(got, wants[0]) {
			t.Errorf("%s: warnings %q, want %q", list, got, wants[0])
		}
		if (wants[1] == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), wants[1]) {
			t.Errorf("%s: error %v, want %q", list, err, wants[1])
		}
	}
}

// TestBudgetOfMachines: each machine needs connections for its part. Processes of one computer share its ports; other machines have their own.
func TestBudgetOfMachines(t *testing.T) {
	as := func(key string) string { return key }
	own := Limits{files: 10_000, ports: 500}
	plan := load.Scenario{Share: load.Share{Of: 4}, Phases: []load.Phase{{Mode: load.ClosedLoop, Concurrency: 602}}}
	if w, err := own.Check(plan, nil, transport.Options{Reuse: transport.Pooled}, as); err != nil || len(w) != 0 {
		t.Errorf("four computers: %v, %v", w, err)
	}
	if got := own.Budget(plan); got != "at most 151 connections each" {
		t.Errorf("four computers: %q", got)
	}
	shared := own.SharedBy(4)
	if w, err := shared.Check(plan, nil, transport.Options{Reuse: transport.Pooled}, as); err != nil || len(w) != 1 || !strings.Contains(w[0], "602 is above the 500 local ports") {
		t.Errorf("four processes: %v, %v", w, err)
	}
	if got := shared.Budget(plan); got != "at most 151 connections each, which share the 500 local ports of this computer for each server address" {
		t.Errorf("four processes: %q", got)
	}
	if got := shared.Budget(load.Scenario{Share: load.Share{Of: 4}, Phases: []load.Phase{{Mode: load.Rate, Rate: 5}}}); got != "" {
		t.Errorf("without a limit: %q", got)
	}
}
