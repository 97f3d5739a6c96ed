package metric

import (
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// doubted returns a request with messages at the given ms, whose instants are uncertain by the given ms.
func doubted(at, by []float64) (*record.Record, *record.Reply) {
	rec, reply := streamed(0, at...)
	for i := range at {
		rec.Messages = append(rec.Messages, record.Message{At: ms(at[i]), UncertainNs: int64(by[i] * 1e6), Clock: record.KernelClock})
	}
	rec.Trace = &record.Trace{}
	return rec, reply
}

// TestDoubt: the tolerated error is the larger of a millisecond and one percent, for the first message and every gap.
func TestDoubt(t *testing.T) {
	set := newSelection(t, chat)
	for _, c := range []struct {
		name       string
		at, by     []float64 // ms; the request starts at 100
		send       float64
		first, gap float64
		wrong      [2]bool
	}{
		{"certain", []float64{150, 160, 170}, []float64{0, 0, 0}, 0, 0, 0, [2]bool{}},
		{"less than a millisecond", []float64{150, 160, 170}, []float64{0.9, 0.9, 0}, 0, 0.9, 0.9, [2]bool{}},
		{"the first message, and the gap after it", []float64{150, 150, 170}, []float64{30, 0, 0}, 0, 30, 30, [2]bool{true, true}},
		{"a late gap alone", []float64{150, 160, 190, 190}, []float64{0, 0, 25, 0}, 0, 0, 25, [2]bool{false, true}},
		{"less than a percent", []float64{1100, 2100, 3100}, []float64{5, 5, 5}, 0, 5, 5, [2]bool{}},
		{"a percent of the gap, not of the latency", []float64{1100, 1110, 1120}, []float64{5, 0, 0}, 0, 5, 5, [2]bool{false, true}},
		{"kept from sending", []float64{150, 160}, []float64{0, 0}, 12, 12, 0, [2]bool{true, false}},
	} {
		rec, reply := doubted(c.at, c.by)
		rec.Trace.SendUncertainNs = int64(c.send * 1e6)
		d := set.Row(rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1}).doubt
		if d.first+d.send != c.first*1e6 || d.send != c.send*1e6 || d.gap != c.gap*1e6 || d.firstWrong != c.wrong[0] || d.gapWrong != c.wrong[1] {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// TestSharedReads: content messages that came with a later message count, unless a packet tells their instant; so do equal instants of
// records that know no more, and the summary adds them up.
func TestSharedReads(t *testing.T) {
	set := newSelection(t, chat)
	r := set.NewReducer()
	rec, reply := doubted([]float64{150, 150, 160, 160, 170}, []float64{3, 0, 0, 0, 5})
	rec.Messages[3].Clock, rec.Messages[4].Clock = record.PacketClock, record.PacketClock
	rec.Trace.SharedReads = 40 // of messages without content, too
	row := set.Row(rec, reply, record.Counts{Input: 1, Output: 5, Reasoning: -1})
	if r.Add(row); row.SharedReads != 2 {
		t.Errorf("%d share their read, want the first and the third", row.SharedReads)
	}
	if s := r.Summary(Window{}); s.SharedReads != 2 {
		t.Errorf("%d in the summary", s.SharedReads)
	}
}

// TestCertainty: of 100 requests two may be 200 ms too slow; the summary gives all and the certain ones, and the range of the p99. A
// warm-up has its own reducer, and failed requests are not counted.
func TestCertainty(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	counts := record.Counts{Input: 1, Output: 3, Reasoning: -1}
	for i := range 100 {
		at, by := []float64{240, 250, 260}, []float64{0, 0, 0}
		if i < 2 {
			at, by = []float64{440, 440, 450}, []float64{200, 0, 0}
		}
		rec, reply := doubted(at, by)
		add(r, rec, reply, counts)
	}
	rec, _ := failed(500, "x", "y")
	rec.Messages = []record.Message{{At: ms(200), UncertainNs: 1e9}}
	add(r, rec, nil, counts)
	s := r.Summary(Window{})
	if c := s.Certainty; c.Uncertain != 2 || c.UncertainFirst != 2 || c.UncertainGaps != 2 || c.FirstErrorMax != 200*time.Millisecond || c.GapErrorMax != 200*time.Millisecond {
		t.Errorf("%+v", c)
	}
	if got := s.Bounds.Of("time_to_first_token", P99, 0); got != (Range{140, s.Value("time_to_first_token", P99)}) {
		t.Errorf("p99 of TTFT: %+v; stated %v ms", got, s.Value("time_to_first_token", P99))
	}
	got := map[string]Result{}
	for _, c := range s.Certain {
		got[c.Tag] = c
	}
	if v := got["time_to_first_token"]; v.Values[Count] != 98 || v.Values[Max] != 140 {
		t.Errorf("certain TTFT: %+v", v.Values)
	}
	if v := got["inter_chunk_latency"]; v.Values[Count] != 196 || v.Values[Min] != 10 {
		t.Errorf("certain gaps: %+v", v.Values)
	}
}

// TestCertainRunSaysNothing: where every instant is certain there are no second figures.
func TestCertainRunSaysNothing(t *testing.T) {
	r := newSelection(t, Options{ProducesTokens: true}).NewReducer()
	rec, reply := doubted([]float64{240}, []float64{0})
	rec.Messages[0].Clock = record.PacketClock
	add(r, rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1})
	s := r.Summary(Window{})
	if s.Certain != nil || s.Certainty != (Certainty{PacketStamps: 1}) || len(s.Bounds) != 0 {
		t.Errorf("%+v %v", s.Certainty, s.Certain)
	}
}
