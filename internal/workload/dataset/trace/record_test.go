package trace

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// read parses one row of the mooncake format.
func read(text string) (Record, error) {
	var faults dataset.Faults
	rec := Mooncake(rows.Parse("f:1", []byte(text), &faults))
	return rec, faults.Err()
}

// TestMooncakeRows checks rows with each of the four ways to specify a request.
func TestMooncakeRows(t *testing.T) {
	for text, want := range map[string]string{
		`{"input_length":9,"hash_ids":[1,2],"timestamp":5,"output_length":3,"session_id":"s"}`: "9 [1 2] at 5, 3 out, session s",
		`{"text_input":"hi","delay":2}`:                                                           `"hi" after 2`,
		`{"text_input":"hi","input_length":7,"hash_ids":[1]}`:                                     `"hi"`, // the text wins
		`{"messages":[{"role":"user","content":"a"}],"tools":[{"x":1}],"message_mode":"history"}`: `messages [{"role":"user","content":"a"}] tools [{"x":1}]`,
		`{"payload":{"a":[1]},"type":"mooncake_trace","extra":{"k":true}}`:                        `payload {"a":[1]} extra {"k":true}`,
	} {
		rec, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got strings.Builder
		if rec.InputLength > 0 {
			fmt.Fprintf(&got, "%d %v", rec.InputLength, rec.HashIDs)
		}
		if rec.Text != nil {
			fmt.Fprintf(&got, "%q", *rec.Text)
		}
		if rec.Messages != nil {
			fmt.Fprintf(&got, "messages %s tools %s", rec.Messages, rec.Tools)
		}
		if rec.Payload != nil {
			fmt.Fprintf(&got, "payload %s extra %s", rec.Payload, rec.Extra)
		}
		if rec.Timestamp != nil {
			fmt.Fprintf(&got, " at %g, %d out, session %s", *rec.Timestamp, *rec.OutputLength, rec.Session)
		}
		if rec.Delay != nil {
			fmt.Fprintf(&got, " after %g", *rec.Delay)
		}
		if got.String() != want {
			t.Errorf("%s\n is %s\nwant %s", text, got.String(), want)
		}
	}
}

// TestMooncakeRefuses checks that rows with too much, too little or invalid data give errors that name line and key.
func TestMooncakeRefuses(t *testing.T) {
	for text, says := range map[string]string{
		`{}`:                                     "exactly one of input_length, text_input, messages, payload is needed; the row has no key",
		`{"timestamp":1}`:                        "the row has timestamp",
		`{"text_input":"a","payload":{"b":1}}`:   "text_input, payload cannot be used together",
		`{"text_input":"a","hash_ids":[1]}`:      "hash_ids: needs input_length",
		`{"messages":[]}`:                        "messages: must not be empty",
		`{"messages":[{"content":"a"}]}`:         "role: missing",
		`{"text_input":"a","tools":[{}]}`:        "tools: needs messages",
		`{"messages":[{"role":"u"}],"tools":[]}`: "tools: must not be empty",
		`{"payload":{}}`:                         "payload: must not be empty",
		`{"input_length":1,"type":"other"}`:      `type: must be "mooncake_trace", got "other"`,
		`{"input_length":0}`:                     "input_length",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), "f:1: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", text, err, says)
		}
	}
}

// TestLimits checks a time window with both ends included, an input limit, an output limit, and the counts of what they exclude.
func TestLimits(t *testing.T) {
	at := func(ms float64) *float64 { return &ms }
	l := Limits{Start: at(10), End: at(20), MaxISL: 100, MaxOSL: 5}
	var info dataset.Info
	for _, c := range []struct {
		rec  Record
		want bool
	}{
		{Record{Timestamp: at(10)}, true}, {Record{Timestamp: at(20), InputLength: 100}, true}, {Record{}, true}, {Record{Timestamp: at(9.9)}, false},
		{Record{Timestamp: at(20.1)}, false}, {Record{Timestamp: at(15), InputLength: 101}, false},
	} {
		if l.Take(&c.rec, &info) != c.want {
			t.Errorf("%+v is taken: %v", c.rec, !c.want)
		}
	}
	few, many := 3, 9
	list := []Record{{OutputLength: &few}, {OutputLength: &many}, {}}
	l.Cap(list, &info)
	if *list[0].OutputLength != 3 || *list[1].OutputLength != 5 || list[2].OutputLength != nil || many != 9 {
		t.Errorf("%+v", list)
	}
	if info.OutsideWindow != 2 || info.TooLong != 1 || info.Capped != 1 {
		t.Errorf("%+v", info)
	}
	as := func(key string) string { return "<" + key + ">" }
	if got := l.Window(as); got != "<phases.profiling.start_offset> 10 ms, <phases.profiling.end_offset> 20 ms" {
		t.Error(got)
	}
	if got := (Limits{}).Window(nil); got != "phases.profiling.start_offset open, phases.profiling.end_offset open" {
		t.Error(got)
	}
}

// TestSessions checks that rows with one id form one conversation in order, and must specify requests in the same way.
func TestSessions(t *testing.T) {
	var list []Record
	for _, text := range []string{
		`{"text_input":"a","session_id":"x"}`, `{"text_input":"b"}`, `{"payload":{"c":1},"session_id":"y"}`, `{"messages":[{"role":"u"}],"session_id":"x"}`,
	} {
		rec, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rec)
	}
	sessions := Group(list, func() string { return "new" })
	if len(sessions) != 3 || sessions[0].ID != "x" || len(sessions[0].Records) != 2 || sessions[1].ID != "new" || sessions[2].ID != "y" {
		t.Fatalf("%+v", sessions)
	}
	for i, says := range []string{`session "x" uses prompt in`, "", ""} {
		var faults dataset.Faults
		sessions[i].Check(&faults)
		if err := faults.Err(); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("session %d: %v, want %q", i, err, says)
		}
	}
	if sessions[0].Mode() != "" || sessions[2].Mode() != conversation.MessageArrayWithResponses {
		t.Error("a body as it was recorded is literal, a text is not")
	}
}
