package metric

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// lumpedAnswer is a request that starts at 100 ms and whose events arrive in lumps of given sizes at given ms, each up to by ms earlier than stamped.
func lumpedAnswer(at []float64, events []int, by float64) (*record.Record, *record.Reply) {
	var instants, late []float64
	for i := range at {
		for k := range events[i] {
			instants = append(instants, at[i])
			if k+1 < events[i] {
				late = append(late, by)
			} else {
				late = append(late, 0)
			}
		}
	}
	return doubted(instants, late)
}

// TestLumps: events that arrive together are lumps where the client read in time, by the share of events and of answers; else they are not.
func TestLumps(t *testing.T) {
	set := newSelection(t, chat)
	for _, c := range []struct {
		name   string
		at     []float64
		events []int
		by     float64 // ms by which they may have arrived earlier
		delay  float64 // ms that last bytes waited
		lumped bool
		says   string // of a run of such answers
	}{
		{"a proxy", []float64{300, 500, 700}, []int{20, 20, 20}, 3, 0.1, true, "The stream arrives in bursts of 20 events every 200 ms: a proxy or the server buffers it."},
		{"the first event alone", []float64{150, 300, 500}, []int{1, 15, 20}, 3, 0.1, true, "The stream arrives in bursts of 12 events every 175 ms:"},
		{"two events in a write", []float64{150, 170, 190, 210}, []int{2, 2, 2, 2}, 3, 0.1, true, "The stream arrives in bursts of 2 events every 20 ms:"},
		{"one lump", []float64{900}, []int{30}, 3, 0.1, true, "The stream arrives in bursts of 30 events, one for each answer: a proxy or the server buffers it."},
		{"one lump of a fast server", []float64{120}, []int{30}, 3, 0.1, false, ""},
		{"a client that was blind", []float64{300, 500, 700}, []int{20, 20, 20}, 190, 0.1, false, ""},
		{"a client that may have been blind for a third", []float64{300, 500, 700}, []int{20, 20, 20}, 67, 0.1, false, ""},
		{"a client that read late", []float64{300, 500, 700}, []int{20, 20, 20}, 3, 80, false, ""},
		{"fast events that meet", []float64{150, 153, 156, 159}, []int{3, 3, 3, 3}, 0.5, 0.1, false, ""},
		{"some joined", []float64{150, 170, 190, 210, 230, 250}, []int{1, 2, 1, 1, 1, 1}, 3, 0.1, false, ""},
		{"each alone", []float64{150, 170, 190, 210}, []int{1, 1, 1, 1}, 0, 0.1, false, ""},
	} {
		r := set.NewReducer()
		for range 10 {
			rec, reply := lumpedAnswer(c.at, c.events, c.by)
			rec.Trace.Reads, rec.Trace.ReadDelaySum, rec.Trace.LastByteDelayMax = 4, int64(4e6*c.delay), int64(1e6*max(c.delay, c.by))
			r.Add(set.Row(rec, reply, record.Counts{Input: 1, Output: 40, Reasoning: -1}))
			if probe := ProbeLumps(rec, reply.Contents); (probe != "") != c.lumped || !strings.HasPrefix(probe, c.says) {
				t.Errorf("%s: the probe says %q", c.name, probe)
			}
		}
		e := calm()
		e.LumpStats, e.Certainty = r.Lumps(), r.Summary(Window{}).Certainty
		v := Assess(e, nil, nil)
		if e.lumpy() != c.lumped || e.StreamAnswers != 10 || v.Verdict != VerdictValid || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %+v, %s", c.name, e.LumpStats, v.Sentence())
		}
		if text := v.Reason + strings.Join(v.Notes, " "); c.lumped && (strings.Contains(text, "capture") || strings.Contains(text, "aiperf may have")) {
			t.Errorf("%s: the client is blamed: %s", c.name, text)
		}
	}
}

// TestShareOfLumps: answers in lumps have to be most of the answers; the sentence says how many they are, in a verdict of another kind as a note.
func TestShareOfLumps(t *testing.T) {
	e := calm()
	e.LumpStats = LumpStats{StreamAnswers: 100, LumpedAnswers: 50, LumpEvents: 20, LumpInterval: 200 * msec}
	if e.lumpy() {
		t.Error("half of the answers are most of them")
	}
	e.LumpedAnswers = 51
	if v := Assess(e, nil, nil); !strings.Contains(v.Reason, "This affects at least 51 % of the streamed answers") {
		t.Error(v.Sentence())
	}
	e.CPUShare = .97
	if v := Assess(e, nil, nil); len(v.Notes) == 0 || !strings.HasPrefix(v.Notes[0], "The stream arrives in bursts of 20 events every 200 ms") {
		t.Errorf("%q", v.Notes)
	}
	if new(LumpStats).lumpy() {
		t.Error("a run without streams is in lumps")
	}
}

// TestOneLumpHasNoITL: an answer whose events all came at one instant has no ITL, counts as such, and its gaps of zero are in no certain metric; that
// of the other answers stays.
func TestOneLumpHasNoITL(t *testing.T) {
	set := newSelection(t, chat)
	r := set.NewReducer()
	add := func(at []float64, events []int, by float64) {
		rec, reply := lumpedAnswer(at, events, by)
		r.Add(set.Row(rec, reply, record.Counts{Input: 1, Output: 11, Reasoning: -1}))
	}
	add([]float64{900}, []int{11}, 0.5)
	add([]float64{150, 170, 350}, []int{1, 9, 1}, 0.5)
	add([]float64{150, 350}, []int{10, 1}, 30) // makes the run uncertain
	s := r.Summary(Window{})
	if n, avg := s.Value("inter_token_latency", Count), s.Value("inter_token_latency", Avg); n != 2 || avg != 20 {
		t.Errorf("ITL of %v answers, %v ms", n, avg)
	}
	if n := s.Value("output_token_throughput_per_user", Count); n != 2 {
		t.Errorf("%v rates of users", n)
	}
	if l := r.Lumps(); l.OneLump != 1 || s.OneMessage != 0 {
		t.Errorf("%+v, %d in one message", l, s.OneMessage)
	}
	certain := map[string][Stats]float64{}
	for _, c := range s.Certain {
		certain[c.Tag] = c.Values
	}
	if itl := certain["inter_token_latency"]; itl[Count] != 1 || math.Abs(itl[Min]-20) > 1e-9 {
		t.Errorf("certain ITL: %v", itl)
	}
	if icl := certain["inter_chunk_latency"]; icl[Count] != 10 {
		t.Errorf("certain gaps: %v", icl)
	}
	if ttft := certain["time_to_first_token"]; ttft[Count] != 2 {
		t.Errorf("certain TTFT: %v", ttft)
	}
	e := calm()
	e.OneLump = 1
	if notes := strings.Join(Assess(e, nil, nil).Notes, ""); !strings.Contains(notes, "aiperf read all events of 1 answer together: no inter token latency.") {
		t.Error(notes)
	}
}

// TestAnswersReadTogether: an answer whose events a late client read together may have been like the others. So the limits of ITL include the values that
// it may have had. An answer whose events certainly came together has no ITL, and changes nothing.
func TestAnswersReadTogether(t *testing.T) {
	for _, c := range []struct {
		name                   string
		by                     float64 // ms by which the events of some answers may have come before the last
		p99, least, most, user float64 // ITL: limit of its p99, limits of its average; least rate of a user. 0 = exact
	}{
		{"like the others", 300, 30, 18, 21, 1000. / 30},
		{"at once", 5, 0, 0, 0, 0},
	} {
		set := newSelection(t, chat)
		r := set.NewReducer()
		add := func(at []float64, events []int, by float64) {
			rec, reply := lumpedAnswer(at, events, by)
			row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 1, Output: 11, Reasoning: -1}).Append(nil)) // as another machine sends it
			if err != nil {
				t.Fatal(err)
			}
			r.Add(row)
		}
		for range 90 {
			add([]float64{1150, 1350}, []int{1, 10}, 0)
		}
		for range 10 {
			add([]float64{1400}, []int{11}, c.by)
		}
		s := r.Summary(Window{})
		itl, user := s.Bounds["inter_token_latency"], s.Bounds["output_token_throughput_per_user"]
		if c.p99 == 0 {
			if len(itl)+len(user) > 0 {
				t.Errorf("%s: %v, %v", c.name, itl, user)
			}
			continue
		}
		near := func(got, want float64) bool { return math.Abs(got-want) < 0.01*want }
		if !near(itl[P99].High, c.p99) || !near(itl[Avg].Low, c.least) || !near(itl[Avg].High, c.most) || !near(user[Min].Low, c.user) || !math.IsInf(user[Max].High, 1) {
			t.Errorf("%s: %v, %v", c.name, itl, user)
		}
		if _, bounded := itl[Count]; bounded || s.Value("inter_token_latency", Count) != 90 || s.Value("inter_token_latency", Avg) != 20 {
			t.Errorf("%s: %v", c.name, itl)
		}
		e := calm()
		e.Valid = s.Valid
		if v := Assess(e, s, nil); v.Verdict != VerdictUncertain || !strings.Contains(v.Reason, "ITL (avg 18 to 21 ms, p90 20 to 21 ms, p99 20 to 30 ms)") {
			t.Errorf("%s: %v", c.name, v.Sentence())
		}
	}
}
