package weka

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// outcome is the output of the Python tool for recorded agents (testdata/record.py).
type outcome struct {
	Sessions []struct {
		ID    string
		Turns []struct {
			At       float64
			Delay    *float64
			Model    string
			Max      int
			Messages []json.RawMessage
		}
	}
	Started []struct {
		ID         string
		Turn, Join int
	}
}

// recordedCase is a trace in Weka's schema.
type recordedCase struct {
	Trace   json.RawMessage
	Options struct {
		Think, Tools bool
		Idle         *float64
		Models       []string
	}
	outcome
}

// names generates texts that name their blocks, like the recorded ones.
type names struct{}

func (names) Text(ids []int64, tail int, _ string) string {
	var words []string
	for _, id := range ids {
		words = append(words, strconv.FormatInt(id, 10))
	}
	if tail > 0 {
		words = append(words, "+"+strconv.Itoa(tail))
	}
	return strings.Join(words, " ")
}

// detection has the values of the contract.
var detection = Detection{Split: true, SeamGap: 3600, SeamOverlap: 0.5, AuxRequests: 1, AuxRatio: 0.1, AuxFloor: 16384, AuxModel: true,
	ReductionOut: 4000, ReductionRate: 20, GroupMin: 3}

// TestRecorded compares agents, times and messages of random traces with those of the Python tool.
func TestRecorded(t *testing.T) {
	var cases []recordedCase
	if read(t, "testdata/recorded.json.gz", &cases); len(cases) < 300 {
		t.Fatalf("%d cases", len(cases))
	}
	bad := 0
	for i := range cases {
		if why := cases[i].differs(); why != "" {
			if bad++; bad < 6 {
				t.Errorf("case %d: %s", i, why)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d cases differ", bad, len(cases))
	}
}

// read reads recorded cases.
func read(t testing.TB, path string, cases any) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(cases); err != nil {
		t.Fatal(err)
	}
}

// TestTraceLab compares the sessions of random rounds, and the sessions that they started, with those of the Python tool.
func TestTraceLab(t *testing.T) {
	var cases []struct {
		Rows []json.RawMessage
		outcome
	}
	if read(t, "testdata/tracelab.json.gz", &cases); len(cases) < 100 {
		t.Fatalf("%d cases", len(cases))
	}
	bad, agents := 0, 0
	for i, c := range cases {
		var faults dataset.Faults
		rounds := NewRounds(&faults)
		for _, raw := range c.Rows {
			rounds.Add(rows.Parse("case", raw, &faults))
		}
		var list, started []Session
		rounds.Traces(Join{Agents: true, Codex: true, Least: 10_000}, 64, func(trace *Trace, _ string) bool {
			made, _ := trace.Sessions(Options{Detection: detection, Models: []string{"m"}}, &faults)
			list, started = append(list, made[0]), append(started, made[1:]...)
			return false
		})
		agents += len(started)
		why := c.differs(list, started)
		if err := faults.Err(); err != nil {
			why = err.Error()
		}
		if why != "" {
			if bad++; bad < 6 {
				t.Errorf("case %d: %s", i, why)
			}
		}
	}
	if bad > 0 || agents < 50 {
		t.Errorf("%d of %d cases differ; %d agents", bad, len(cases), agents)
	}
}

func (c *recordedCase) differs() string {
	var faults dataset.Faults
	trace := Read(rows.Parse("case", c.Trace, &faults))
	if trace == nil {
		return faults.Err().Error()
	}
	o := Options{Detection: detection, Tools: c.Options.Tools, ThinkTime: c.Options.Think, IdleCap: c.Options.Idle, Models: c.Options.Models}
	list, _ := trace.Sessions(o, &faults)
	if err := faults.Err(); err != nil {
		return err.Error()
	}
	return c.outcome.differs(list[:1], list[1:])
}

// differs compares the sessions of traces and the sessions that they started.
func (c *outcome) differs(roots, others []Session) string {
	list := slices.Concat(roots, others)
	var ids, want []string
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	for _, s := range c.Sessions {
		want = append(want, s.ID)
	}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		return fmt.Sprintf("sessions %v, want %v", ids, want)
	}
	for i := range list {
		s, w := &list[i], &c.Sessions[i]
		if len(s.Turns) != len(w.Turns) {
			return fmt.Sprintf("%s: %d turns, want %d", s.ID, len(s.Turns), len(w.Turns))
		}
		messages := s.Messages(names{})
		for k := range s.Turns {
			got, turn := s.Turns[k], w.Turns[k]
			where := fmt.Sprintf("%s turn %d: ", s.ID, k)
			if k > 0 && (turn.Delay == nil || math.Abs(*got.Delay-*turn.Delay) > 1e-6) {
				return where + fmt.Sprintf("delay %v, want %v", *got.Delay, *turn.Delay)
			}
			if math.Abs(*got.Timestamp-turn.At) > 1e-6 || got.Model != turn.Model || got.MaxTokens != turn.Max {
				return where + fmt.Sprintf("%v %s %d, want %v", *got.Timestamp, got.Model, got.MaxTokens, turn)
			}
			if why := differ(messages[k], turn.Messages); why != "" {
				return where + why
			}
		}
	}
	started := map[string][2]int{}
	for _, b := range c.Started {
		started[b.ID] = [2]int{b.Turn, b.Join}
	}
	for i := range others {
		if s := &others[i]; started[s.ID] != [2]int{s.Parent, s.Join} {
			return fmt.Sprintf("%s is started by %d and awaited by %d, want %v", s.ID, s.Parent, s.Join, started[s.ID])
		}
	}
	return ""
}

// differ compares lists of messages as values.
func differ(got, want []json.RawMessage) string {
	plain := func(list []json.RawMessage) string {
		var out []string
		for _, raw := range list {
			var v any
			if json.Unmarshal(raw, &v) != nil {
				return "not JSON: " + string(raw)
			}
			b, _ := json.Marshal(v)
			out = append(out, string(b))
		}
		return strings.Join(out, "\n")
	}
	if g, w := plain(got), plain(want); g != w {
		return "messages\n" + g + "\nwant\n" + w
	}
	return ""
}
