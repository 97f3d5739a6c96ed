package weka

import (
	"encoding/json"
	"reflect"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// TestAppend checks that every recorded trace, and every trace built from rounds, is the same after writing and reading.
func TestAppend(t *testing.T) {
	var traces []*Trace
	var faults dataset.Faults
	var cases []recordedCase
	read(t, "testdata/recorded.json.gz", &cases)
	for _, c := range cases {
		if trace := Read(rows.Parse("case", c.Trace, &faults)); trace != nil {
			traces = append(traces, trace)
		}
	}
	var rounds []struct{ Rows []json.RawMessage }
	read(t, "testdata/tracelab.json.gz", &rounds)
	for _, c := range rounds {
		all := NewRounds(&faults)
		for _, raw := range c.Rows {
			all.Add(rows.Parse("case", raw, &faults))
		}
		_, _, err := all.Traces(Join{Agents: true, Codex: true, Least: 10_000}, 64, func(trace *Trace, _ string) bool { traces = append(traces, trace); return false })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(traces) < 200 || faults.Count() > 0 {
		t.Fatalf("%d traces, %v", len(traces), faults.Err())
	}
	for _, trace := range traces {
		text := trace.Append(nil)
		again := Read(rows.Parse("case", text, &faults))
		if again == nil {
			t.Fatalf("%s: %v", text, faults.Err())
		}
		o := Options{Detection: detection, Order: true, Recorded: true}
		was, dropped := trace.Sessions(o, &faults)
		is, droppedAgain := again.Sessions(o, &faults)
		for _, list := range [][]Session{was, is} { // positions depend on the files
			for i := range list {
				for k := range list[i].Turns {
					list[i].Turns[k].Where = ""
				}
			}
		}
		if !reflect.DeepEqual(was, is) || dropped != droppedAgain {
			t.Errorf("%s: %d and %d sessions, %d and %d dropped", text, len(was), len(is), dropped, droppedAgain)
		}
	}
}
