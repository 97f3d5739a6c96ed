package rules

import (
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// TestOutputLength: the length for rows of a file counts before that of generated prompts; neither is needed.
func TestOutputLength(t *testing.T) {
	prompts := &config.Prompts{OSL: config.Fixed(20)}
	for _, c := range []struct {
		d    config.Dataset
		want float64
	}{
		{config.Dataset{}, 0},
		{config.Dataset{OSL: config.Fixed(10)}, 10},
		{config.Dataset{Prompts: prompts}, 20},
		{config.Dataset{Prompts: &config.Prompts{}}, 0},
		{config.Dataset{OSL: config.Fixed(10), Prompts: prompts}, 10},
	} {
		run := config.Default()
		c.d.Name = "main"
		run.Datasets[0] = c.d
		if got := outputLength(&Subject{Run: run}); got != c.want {
			t.Errorf("%+v asks for %g tokens, want %g", c.d, got, c.want)
		}
	}
}

// TestSweptLists: an axis is a list if a flag takes one for its setting and it has several values.
func TestSweptLists(t *testing.T) {
	run := config.Default()
	s := &Subject{Run: run}
	if got := s.sweptAxes(); got != nil {
		t.Errorf("no sweep: %v", got)
	}
	run.Sweep = &config.Sweep{Type: config.SweepGrid, Parameters: []config.Axis{
		{Path: "phases.profiling.concurrency", Values: []any{1, 2}},
		{Path: "phases.profiling.rate", Values: []any{3}},                 // one value
		{Path: "endpoint.type", Values: []any{"chat", "completions"}},     // no flag takes a list of it
		{Path: "phases.profiling.request_count", Values: []any{"1", "2"}}, // no such key
	}}
	if got := s.sweptAxes(); len(got) != 1 || got[0].Path != "phases.profiling.concurrency" {
		t.Errorf("%v, want the concurrency alone", got)
	}
}

// TestSentExtras: an extra that the endpoint type reads itself has an effect on bodies that are sent unchanged.
func TestSentExtras(t *testing.T) {
	for _, c := range []struct {
		kind       string
		extras     []string
		sent, read bool
	}{
		{"raw", nil, false, false},
		{"raw", []string{"response_field"}, false, true},
		{"raw", []string{"response_field", "seed"}, true, true},
		{"template", []string{"payload_template", "response_field"}, false, true},
		{"kserve", []string{"v2_output_name"}, false, true},
		{"kserve_v1_predict", []string{"v1_output_field"}, false, true},
		{"chat", []string{"response_field"}, true, false},
	} {
		run := config.Default()
		for _, key := range c.extras {
			run.Endpoint.Extra.Set(key, []byte("1"))
		}
		e, _, err := endpoint.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		s := &Subject{Run: run, Endpoint: e}
		if sent, read := sentExtras(s), readExtras(s); sent != c.sent || read != c.read {
			t.Errorf("%s %v: sent %t, read %t", c.kind, c.extras, sent, read)
		}
	}
}
