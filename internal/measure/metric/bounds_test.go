package metric

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/record"
)

// TestBoundsHoldTheTruth: messages that arrived earlier than stamped, by no more than their uncertainty and in their order, give statistics within
// the bounds of the stated ones; also where the requests came in their binary form.
func TestBoundsHoldTheTruth(t *testing.T) {
	o := chat
	o.Goodput = "request_latency:60 time_to_first_token:15 output_token_throughput_per_user:100"
	set, err := NewSelection(o)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		stated, truth, carried := set.NewReducer(), set.NewReducer(), set.NewReducer()
		other := map[string]bool{} // metrics that other requests have in truth: a rate over no time is absent
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			row, really := drawLate(t, set)
			stated.Add(row)
			truth.Add(really)
			for _, m := range All() {
				_, has := row.Value(m.Tag)
				_, had := really.Value(m.Tag)
				other[m.Tag] = other[m.Tag] || has != had
			}
			back, err := set.ReadRow(row.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			carried.Add(back)
		}
		s, want := stated.Summary(Window{}), truth.Summary(Window{})
		checkBounds(t, s, want, other)
		checkBounds(t, carried.Summary(Window{}), want, other)
	})
}

// TestMarginsRoundOutward: a margin is a rounded difference. What the value and its margin give must not lie inside the end that it stands for.
func TestMarginsRoundOutward(t *testing.T) {
	for _, c := range []struct{ stated, end float64 }{{5e9, 200.1}, {1e9 / 0.6, 66.7}, {64.02, 193.4}, {25.33, 235.6}} {
		m := margins{below: make([]float64, 1), above: make([]float64, 1)}
		m.widen(0, c.stated, c.end)
		if low, high := c.stated-m.below[0], c.stated+m.above[0]; low > c.end || high < c.end {
			t.Errorf("from %v to %v: the range is %v to %v", c.stated, c.end, low, high)
		}
	}
}

// drawLate makes a request as the client stamped it, and as it was.
func drawLate(t *rapid.T, set *Selection) (stamped, really *Row) {
	if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
		rec, _ := failed(500, "x", "y")
		return set.Row(rec, nil, record.Counts{}), set.Row(rec, nil, record.Counts{})
	}
	rec := &record.Record{Start: ms(100), Issued: ms(99), Intended: ms(98), End: ms(300), WallOffset: 1_800_000_000_000_000_000, Trace: &record.Trace{}}
	reply := &record.Reply{PerChunkTokens: -1}
	trueReply, trueRec := *reply, *rec
	at, was := ms(100), ms(100)
	for k := range rapid.IntRange(1, 5).Draw(t, "messages") {
		was = max(was, at) + rapid.Int64Range(0, 30e6).Draw(t, "gap")
		if rapid.Bool().Draw(t, "together") {
			was = at // came before the stamp of the message before, or right with it
		}
		late := rapid.SampledFrom([]int64{0, 0, 1e6, 25e6}).Draw(t, "late")
		at = max(at, was+late)
		bound := at - was + rapid.SampledFrom([]int64{0, 3e6}).Draw(t, "slack")
		text := rapid.SampledFrom([]string{"a", ""}).Draw(t, "text")
		rec.Messages = append(rec.Messages, record.Message{At: at, UncertainNs: bound})
		reply.Contents = append(reply.Contents, record.Content{At: at, Text: text, Message: k})
		trueRec.Messages = append(trueRec.Messages, record.Message{At: was})
		trueReply.Contents = append(trueReply.Contents, record.Content{At: was, Text: text, Message: k})
	}
	counts := record.Counts{Input: 9, Output: rapid.IntRange(1, 9).Draw(t, "osl"), Reasoning: -1}
	return set.Row(rec, reply, counts), set.Row(&trueRec, &trueReply, counts)
}

func checkBounds(t *rapid.T, s, want *Summary, other map[string]bool) {
	for _, r := range s.Results {
		if r.Kind == Sweep || other[r.Tag] || other[r.base] {
			continue
		}
		truth, ok := want.Get(r.Tag)
		for stat := Avg; ok && stat < Stats; stat++ {
			if !r.Has(stat) || !truth.Has(stat) {
				continue
			}
			v, in := truth.Values[stat], s.Bounds.Of(r.Tag, stat, r.Values[stat])
			slack := 1e-9 * max(1, math.Abs(v), math.Abs(r.Values[stat])) // margins are stored as differences
			if v < in.Low-slack || v > in.High+slack || r.Values[stat] < in.Low-slack && stat != Std {
				t.Fatalf("%s %s: stated %v, truth %v, bounds %+v", r.Tag, stat, r.Values[stat], v, in)
			}
		}
	}
}

// TestBoundsByHand: two answers of three tokens; the second one's messages shared reads.
func TestBoundsByHand(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	counts := record.Counts{Input: 1, Output: 3, Reasoning: -1}
	for _, by := range [][]float64{{0, 0, 0}, {20, 6, 4}} {
		rec, reply := doubted([]float64{150, 160, 170}, by)
		add(r, rec, reply, counts)
	}
	s := r.Summary(Window{})
	for _, c := range []struct {
		tag       string
		stat      Stat
		low, high float64
	}{
		{"time_to_first_token", Avg, 40, 50},       // 50 and 30 to 50
		{"time_to_first_token", Max, 50, 50},       // the first answer's is exact
		{"time_to_first_token", P50, 40, 50},       // between 30 and 50, and 50
		{"request_latency", Avg, 68, 70},           // 70 and 66 to 70
		{"inter_token_latency", Avg, 9, 15},        // 10 and (20-4)/2 to (20+20)/2
		{"inter_chunk_latency", Avg, 9, 15},        // 40 ms of gaps, 36 to 60
		{"inter_chunk_latency", Min, 4, 10},        // 10-6 is the least that a gap may have been
		{"inter_chunk_latency", Max, 10, 30},       // 10+20
		{"benchmark_duration", Avg, 0.07, 0.07},    // the first answer's end is exact
		{"time_to_first_token", Std, 0, 12.071068}, // midpoints 50 and 40: 5, and the RMS of 0 and 10
	} {
		got := s.Bounds.Of(c.tag, c.stat, s.Value(c.tag, c.stat))
		if math.Abs(got.Low-c.low) > 1e-6 || math.Abs(got.High-c.high) > 1e-6 {
			t.Errorf("%s %s: %+v, want %v to %v", c.tag, c.stat, got, c.low, c.high)
		}
	}
}

// TestBoundsOfRates: a rate whose time may have been nothing has no upper limit, and no statistic of it passes for exact.
func TestBoundsOfRates(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for range 3 {
		rec, reply := doubted([]float64{150, 160}, []float64{0, 15})
		add(r, rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1})
	}
	s := r.Summary(Window{})
	for _, stat := range append(slices.Clone(judgedStats), Min, Max, Sum) {
		if got := s.Bounds.Of("output_token_throughput_per_user", stat, 0); !math.IsInf(got.High, 1) || got.Low <= 0 {
			t.Errorf("%s: %+v", stat, got)
		}
	}
	if got := s.Bounds["output_token_throughput_per_user"][Std]; got.Low != 0 || !math.IsInf(got.High, 1) {
		t.Errorf("std: %+v", got)
	}
}

// TestSendDelayBounds: a request that may have left later than stamped may have waited less for its answer.
func TestSendDelayBounds(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	rec, reply := doubted([]float64{150, 160}, []float64{0, 0})
	rec.Trace.SendUncertainNs = 12e6
	add(r, rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1})
	s := r.Summary(Window{})
	if got := s.Bounds["time_to_first_token"][P50]; got != (Range{38, 50}) {
		t.Errorf("TTFT %+v", got)
	}
	if _, ok := s.Bounds["inter_token_latency"]; ok {
		t.Error("ITL does not depend on the start")
	}
}

// TestSendDelayLeavesGaps: a first message that may have come before the latest start widens the mean gap by all of its uncertainty, because the request
// may have left at its earliest start.
func TestSendDelayLeavesGaps(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	rec, reply := doubted([]float64{150, 160}, []float64{45, 0}) // sent between 100 and 140
	rec.Trace.SendUncertainNs = 40e6
	add(r, rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1})
	s := r.Summary(Window{})
	if got := s.Bounds["inter_token_latency"][P50]; got != (Range{5, 27.5}) { // (160-150)/2 to (160-105)/2
		t.Errorf("ITL %+v", got)
	}
	if got := s.Bounds["time_to_first_token"][P50]; got != (Range{0, 50}) {
		t.Errorf("TTFT %+v", got)
	}
}

func TestDeviations(t *testing.T) {
	centre, spread := deviations(maps.All(map[float64]float64{44: 50, 54: 62})) // midpoints 47 and 58, half widths 3 and 4
	if centre != 5.5 || math.Abs(spread-math.Sqrt(12.5)) > 1e-12 {
		t.Error(centre, spread)
	}
}
