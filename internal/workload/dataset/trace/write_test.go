package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// payload parses one row of GenAI-Perf's payload files.
func payload(text string, isl int) (Record, error) {
	var faults dataset.Faults
	rec := Payload(rows.Parse("f:1", []byte(text), &faults), isl)
	return rec, faults.Err()
}

// TestRowsReadAsWritten checks that a row is the same after reading and writing, with its keys in the order of the format.
func TestRowsReadAsWritten(t *testing.T) {
	for _, text := range []string{
		`{"timestamp":5,"input_length":9,"output_length":3,"hash_ids":[1,-2],"session_id":"s"}`,
		`{"session_id":"s","delay":2.5,"text_input":"hi"}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"message_mode":"delta","tools":[{"x":1}]}`,
		`{"payload":{"a":[1]},"extra":{"k":true}}`,
	} {
		rec, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendRow([]byte("> "), &rec, rec.Session)); got != "> "+text {
			t.Errorf("\n got %s\nwant > %s", got, text)
		}
	}
	for f, want := range map[float64]string{3: "3", -0.5: "-0.5", 1 << 60: "1152921504606846976"} {
		if got := string(AppendNumber(nil, f)); got != want && !strings.ContainsAny(got, "e.") {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

// TestInOrder checks that records grouped by session return to their original order.
func TestInOrder(t *testing.T) {
	var all []Record
	for i, id := range []string{"b", "", "a", "b", "", "a"} {
		all = append(all, Record{Session: id, InputLength: i + 1})
	}
	n := 0
	var out strings.Builder
	if err := WriteRows(&out, InOrder(all, Group(all, func() string { n++; return fmt.Sprint("new", n) }))); err != nil {
		t.Fatal(err)
	}
	want := `{"input_length":1,"session_id":"b"}|{"input_length":2}|{"input_length":3,"session_id":"a"}|{"input_length":4,"session_id":"b"}|{"input_length":5}|{"input_length":6,"session_id":"a"}|`
	if got := strings.ReplaceAll(out.String(), "\n", "|"); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if err := WriteRows(broken{}, []*Record{{Text: new(string)}}); err == nil {
		t.Error("a writer that fails is not told")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestPayloadRows checks rows of GenAI-Perf's payload files. Numbers are session names, unknown keys go into the body, and a missing length is the
// length of the run.
func TestPayloadRows(t *testing.T) {
	for text, want := range map[string]string{
		`{"timestamp":5,"input_length":9,"hash_ids":[1],"session_id":12,"temperature":0.5}`: `9 [1] "" 12 {"temperature":0.5}`,
		`{"session_id":"s","output_length":4}`:                                              `550 [] "" s `,
		`{"text":"hi","input_length":7,"hash_ids":[1]}`:                                     `0 [] "hi"  `,
		`{"text_input":"ho"}`: `0 [] "ho"  `,
	} {
		rec, err := payload(text, 550)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		words := ""
		if rec.Text != nil {
			words = *rec.Text
		}
		if got := fmt.Sprintf("%d %v %q %s %s", rec.InputLength, rec.HashIDs, words, rec.Session, rec.Extra); got != want {
			t.Errorf("%s\n is %s\nwant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"session_id":1.5}`:               "f:1: session_id: must be an integer of 64 bits",
		`{"session_id":[1]}`:               "f:1: session_id: must be a string",
		`{"text":"a","text_input":"b"}`:    "text and text_input cannot be used together",
		`{"hash_ids":[1]}`:                 "f:1: hash_ids: needs input_length",
		`{"input_length":0,"delay":-1}`:    "input_length",
		`{"output_length":"x","text":"a"}`: "output_length",
	} {
		if _, err := payload(text, 550); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestDelaysBefore checks that the wait after a record becomes the wait before the next one of its session.
func TestDelaysBefore(t *testing.T) {
	ms := func(f float64) *float64 { return &f }
	list := []Record{{Session: "a", Delay: ms(1)}, {Session: "b", Delay: ms(2)}, {Session: "a", Delay: ms(3)}, {Delay: ms(4)}, {Session: "a"}, {Session: "b"}}
	DelaysBefore(list)
	var got []string
	for _, r := range list {
		if r.Delay == nil {
			got = append(got, "-")
		} else {
			got = append(got, fmt.Sprint(*r.Delay))
		}
	}
	if s := strings.Join(got, " "); s != "- - 1 - 3 2" {
		t.Error(s)
	}
}
