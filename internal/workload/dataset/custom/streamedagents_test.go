package custom

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// wekaRows returns count traces, one per row, followed by end.
func wekaRows(count int, end ...string) string {
	row := strings.ReplaceAll(wekaTrace, "\n", "")
	var b strings.Builder
	for i := range count {
		b.WriteString(strings.Replace(row, `"id":"t"`, fmt.Sprintf(`"id":"t%d"`, i), 1) + "\n")
	}
	return b.String() + strings.Join(end, "\n")
}

// TestAgentsGrow checks that the first trace of a large file, with its sub-agents, is available after a few were read. Later errors are reported when
// they are reached. Skipped traces are reported at the end.
func TestAgentsGrow(t *testing.T) {
	leave(t)
	const count = 4 * conversationsAhead
	o := agentsBase("weka_trace")
	o.Early = true
	s := open(t, wekaRows(count, strings.Replace(strings.ReplaceAll(wekaTrace, "\n", ""), `"in":130`, `"in":0`, 1)), o).(*streamedAgents)
	if known := s.Known(); known > 2*conversationsAhead {
		t.Errorf("%d traces were read for the first", known)
	}
	branches := s.Timings(0)[0].Branches
	if len(branches) != 1 || s.ID(0) != "t0" || s.ID(branches[0].Conversation) != "t0::sa:x" || len(s.Conversation(branches[0].Conversation).Turns[0].RawMessages) != 1 {
		t.Errorf("%s: %+v", s.ID(0), branches)
	}
	if ok, err := s.Reach(count - 1); !ok || err != nil {
		t.Error(err)
	}
	last := s.Timings(count - 1)[0].Branches
	if id := s.ID(last[0].Conversation); id != fmt.Sprintf("t%d::sa:x", count-1) {
		t.Errorf("the last one starts %s", id)
	}
	name := s.agents.set.packedSessions.Name
	want := []string{name + ": 1 agents skipped: they start before the first request of their main agent", name + ": 1 requests skipped: their input has no tokens"}
	if n := s.Len(); n != count+1 || s.Info().Turns != 3*count+1 || s.Info().Started != count || !slices.Equal(s.Info().Warnings, want) {
		t.Errorf("%d traces, %+v", n, s.Info())
	}
	if ok, err := s.Reach(count + 1); ok || err != nil {
		t.Errorf("a trace behind the last: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestAgentsGrowOnlyInOrder checks that options that need all traces wait for them, and that all traces for the start are read before any is returned.
func TestAgentsGrowOnlyInOrder(t *testing.T) {
	leave(t)
	content := wekaRows(4 * conversationsAhead)
	for name, change := range map[string]func(o *Options){
		"not in order": func(o *Options) { o.Early = false },
		"scheduled":    func(o *Options) { o.Scheduled = true },
		"users":        func(o *Options) { o.Context.User = 3 },
	} {
		o := agentsBase("weka_trace")
		o.Early = true
		change(&o)
		if d := open(t, content, o); grows(d) || d.Len() != 4*conversationsAhead {
			t.Errorf("%s: %T of %d traces", name, d, d.Len())
		}
	}
	o := agentsBase("weka_trace")
	o.Early, o.Together, o.Entries = true, 3*conversationsAhead, 3*conversationsAhead+5
	s := open(t, content, o).(*streamedAgents)
	if known := s.Known(); known < o.Together || s.Len() != o.Entries {
		t.Errorf("%d traces for %d lanes, %d in all", known, o.Together, s.Len())
	}
}

// grows reports whether a dataset is read while it is used.
func grows(d dataset.Dataset) bool {
	_, ok := d.(dataset.OpenEnded)
	return ok
}

// TestAgentsGrowFaults checks that an error before the first trace rejects the file, together with the errors after it. A later error is reported when
// it is reached.
func TestAgentsGrowFaults(t *testing.T) {
	leave(t)
	o := agentsBase("weka_trace")
	o.Early = true
	text := refusal(t, "{\"id\":1}\nx\n"+wekaRows(2*conversationsAhead), o)
	if !strings.Contains(text, ":1: id: must be a string") || !strings.Contains(text, ":2: invalid JSON") {
		t.Error(text)
	}
	const count = 3 * conversationsAhead
	s := open(t, wekaRows(count, `{"id":"u"}`, wekaRows(3)), o)
	if ok, err := s.(dataset.OpenEnded).Reach(count - 1); !ok || err != nil {
		t.Errorf("the trace before the fault: %v", err)
	}
	if ok, err := s.(dataset.OpenEnded).Reach(count); ok || err == nil || !strings.Contains(err.Error(), fmt.Sprintf(":%d: models: missing", count+1)) {
		t.Error(err)
	}
	o.MaxContext = 100
	if text := refusal(t, wekaRows(count), o); !strings.Contains(text, "the shortest needs 269") {
		t.Error(text)
	}
}

// TestAgentsGrowBesideUse checks that texts and times requested while traces are read are the same as those of a file read before.
func TestAgentsGrowBesideUse(t *testing.T) {
	leave(t)
	const count = 3 * conversationsAhead
	o := agentsBase("weka_trace")
	path := write(t, wekaRows(count))
	kept, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Early = true
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	text := func(c *conversation.Conversation) string { return fmt.Sprintf("%s %s", c.ID, c.Turns[0].RawMessages) }
	for i := range count {
		if ok, err := s.(dataset.OpenEnded).Reach(i); !ok || err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{i, s.Timings(i)[0].Branches[0].Conversation} {
			if got, want := text(s.Conversation(k)), text(kept.Conversation(k)); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
}

// TestRoundsGrow checks that all rounds of a recording are read before the first request, and that its traces are built while they are used.
func TestRoundsGrow(t *testing.T) {
	leave(t)
	const count = 4 * conversationsAhead
	var b strings.Builder
	for _, number := range []int{1, 0} { // the rounds of a session are not adjacent
		for i := range count {
			b.WriteString(roundRow(fmt.Sprintf("s%d", i), number, fmt.Sprintf("00:%02d:%02d", i/60, i%60), "") + "\n")
		}
	}
	o := agentsBase("tracelab")
	o.Join.Agents, o.Early = false, true
	s := open(t, b.String(), o).(*streamedAgents)
	if known := s.Known(); known > 2*conversationsAhead || len(s.Timings(0)) != 2 {
		t.Errorf("%d traces were made for the first, which has %d requests", known, len(s.Timings(0)))
	}
	if s.Len() != count || s.Info().Turns != 2*count {
		t.Errorf("%d traces, %+v", s.Len(), s.Info())
	}
}
