package weka

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// roundsOfText parses rounds as traces.
func roundsOfText(t *testing.T, text string) (list []*Trace) {
	t.Helper()
	var faults dataset.Faults
	all := NewRounds(&faults)
	for line := range strings.Lines(text) {
		if r := rows.Parse("x", []byte(line), &faults); r != nil {
			all.Add(r)
		}
	}
	_, _, err := all.Traces(Join{Agents: true, Codex: true, Least: minCall}, 64, func(trace *Trace, _ string) bool { list = append(list, trace); return false })
	if err != nil || faults.Count() > 0 {
		t.Fatal(err, faults.Err())
	}
	return list
}

// TestRoundsAgain checks that TraceLab recordings, including started agents, are the same after writing and reading, directly and by way of
// weka_trace.
func TestRoundsAgain(t *testing.T) {
	var cases []struct{ Rows []json.RawMessage }
	read(t, "testdata/tracelab.json.gz", &cases)
	wrote, agents := 0, 0
	for _, c := range cases {
		var text strings.Builder
		for _, raw := range c.Rows {
			text.Write(append(raw, '\n'))
		}
		writer := NewRoundWriter()
		for _, trace := range roundsOfText(t, text.String()) {
			var faults dataset.Faults
			over := Read(rows.Parse("x", trace.Append(nil), &faults))
			if over == nil {
				t.Fatal(faults.Err())
			}
			out, err := writer.Append(nil, over)
			if err != nil {
				t.Logf("%v", err)
				continue
			}
			again := roundsOfText(t, string(out))
			if wrote, agents = wrote+1, agents+len(trace.subagents); len(again) != 1 || sent(again[0]) != sent(trace) {
				t.Errorf("%s\nis read as %s\nwant %s", out, sent(again[0]), sent(trace))
			}
		}
	}
	if wrote < 100 || agents < 10 {
		t.Errorf("%d traces were written, with %d agents", wrote, agents)
	}
}

// sent formats the sessions of a trace without file positions, with times in µs and ids numbered by first appearance.
func sent(trace *Trace) string {
	var faults dataset.Faults
	list, _ := trace.Sessions(Options{Detection: detection, Order: true, Recorded: true}, &faults)
	numbers := map[int64]int64{}
	number := func(ids []int64) []int64 {
		out := []int64{}
		for _, id := range ids {
			if numbers[id] == 0 {
				numbers[id] = int64(len(numbers) + 1)
			}
			out = append(out, numbers[id])
		}
		return out
	}
	for i := range list {
		for k := range list[i].Turns {
			turn := &list[i].Turns[k]
			turn.Where, turn.HashIDs = "", number(turn.HashIDs)
			list[i].edits[k].ids = number(list[i].edits[k].ids)
			for _, ms := range []*float64{turn.Timestamp, turn.Delay, &turn.Took} {
				if ms != nil {
					*ms = micro(*ms/1000) * 1000
				}
			}
		}
	}
	text, _ := json.Marshal(list)
	for i := range list {
		text = fmt.Appendf(text, "%+v", list[i].edits)
	}
	return string(text)
}

// TestRoundsUnfit checks that traces that rounds cannot hold are rejected with position and key.
func TestRoundsUnfit(t *testing.T) {
	const whole = `{"id":"t","models":["a"],"block_size":64,"hash_id_scope":"local","requests":[
 {"t":0,"type":"n","model":"a","in":130,"out":8,"hash_ids":[1,2],"api_time":0.5},
 {"t":1,"type":"subagent","agent_id":"x","subagent_type":"e","duration_ms":12000,"status":"completed","models":["b"],"requests":[
  {"t":2,"type":"n","model":"b","in":70,"out":3,"hash_ids":[50],"api_time":1}]},
 {"t":15,"type":"n","model":"a","in":260,"out":9,"hash_ids":[1,2,3,4],"input_types":["tool_result"],"api_time":0.5}]}`
	for _, c := range []struct{ old, now, want string }{
		{`"requests":[
 {"t":0`, `"tool_tokens":5,"requests":[
 {"t":0`, "f:1: tool_tokens: tracelab cannot hold"},
		{`"id":"t"`, `"id":"a b"`, `f:1: id: "a b": tracelab allows only letters`},
		{`"t":0,`, `"t":0.5,`, "f:1: requests[0]: t: 0.5: in tracelab, times count from the first request"},
		{`"hash_ids":[1,2],`, ``, "f:1: requests[0]: hash_ids: 0 ids for 2 blocks"},
		{`[1,2,3,4]`, `[1,2,50,4]`, "f:1: requests[1].requests[0]: hash_ids: 50 also appears elsewhere"},
		{`"duration_ms":12000`, `"duration_ms":9000`, "f:1: requests[1]: duration_ms: 9000: must be at least 10000 ms"},
		{`"t":2,`, `"t":12.5,`, "f:1: requests[1].requests[0]: t: is outside"},
		{`"t":15,`, `"t":0.7,`, "f:1: requests[1]: t: 1: in tracelab the previous request starts an agent"},
		{`"agent_id":"x"`, `"agent_id":"x/y"`, `f:1: requests[1]: agent_id: "x/y"`},
	} {
		var faults dataset.Faults
		trace := Read(rows.Parse("f:1", []byte(strings.Replace(whole, c.old, c.now, 1)), &faults))
		if trace == nil {
			t.Fatal(faults.Err())
		}
		_, err := NewRoundWriter().Append(nil, trace)
		if unfit := (*UnfitTrace)(nil); !errors.As(err, &unfit) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.now, err)
		}
	}
	var faults dataset.Faults
	writer := NewRoundWriter()
	var out []byte
	for _, id := range []string{"t", "u"} { // their agents have the same name
		var err error
		if out, err = writer.Append(out, Read(rows.Parse("f:1", []byte(strings.Replace(whole, `"id":"t"`, `"id":"`+id+`"`, 1)), &faults))); err != nil {
			t.Fatal(err)
		}
	}
	traces := roundsOfText(t, string(out))
	if len(traces) != 2 || traces[0].subagents[0].id != "x" || traces[1].subagents[0].id != "u.x" || len(traces[1].requests) != 2 || !traces[1].requests[1].toolResult {
		t.Errorf("%s", out)
	}
}
