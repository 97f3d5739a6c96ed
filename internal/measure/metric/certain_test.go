package metric

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestCertain: a range of 4 % of the value is narrow enough, and one of 50 µs for a time.
func TestCertain(t *testing.T) {
	for _, c := range []struct {
		tag            string
		value          float64
		low, high      float64
		want, approxim bool
	}{
		{"time_to_first_token", 100, 98, 102, true, true},
		{"time_to_first_token", 100, 98, 102.01, false, true},
		{"time_to_first_token", 0.5, 0.5, 0.546875, true, true}, // 46.9 µs
		{"time_to_first_token", 0.5, 0.5, 0.5625, false, true},  // 62.5 µs
		{"request_throughput", 0.5, 0.5, 0.515625, true, true},  // 3.1 %
		{"request_throughput", 0.5, 0.5, 0.53125, false, true},  // 6.3 %: not a time
		{"request_latency", 100, 100, 100, true, false},
	} {
		b := Bounds{}
		b.set(c.tag, Avg, c.low, c.high)
		if got := b.Certain(c.tag, Avg, c.value); got != c.want || (len(b) > 0) != c.approxim {
			t.Errorf("%s %g in %g to %g: certain %v", c.tag, c.value, c.low, c.high, got)
		}
	}
}

// TestPrecision: it is the widest range as a share of its value; what the stamps cannot tell apart does not count.
func TestPrecision(t *testing.T) {
	for _, c := range []struct{ p99, low, high, want float64 }{
		{100, 99, 102, 0.03}, {0.5, 0.5, 0.546875, 0}, {0.5, 0.5, 0.5625, 0.125}, {0, 0, 3, 0},
	} {
		if got := stated(c.p99, c.low, c.high).precision(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g in %g to %g: %g, want %g", c.p99, c.low, c.high, got, c.want)
		}
	}
}

// TestRangeOrder: the ends of a range are stored in their order; a file with an empty range is refused.
func TestRangeOrder(t *testing.T) {
	b := Bounds{}
	b.set("request_latency", Avg, 5, 3)
	if got := b.Of("request_latency", Avg, 4); got != (Range{3, 5}) {
		t.Errorf("%+v", got)
	}
	var r Range
	if err := json.Unmarshal([]byte(`{"low":5,"high":4}`), &r); err == nil {
		t.Errorf("an empty range was read: %+v", r)
	}
	if err := json.Unmarshal([]byte(`{"low":5,"high":5}`), &r); err != nil || r != (Range{5, 5}) {
		t.Errorf("%+v %v", r, err)
	}
	if err := json.Unmarshal([]byte(`{"low":5}`), &r); err != nil || !math.IsInf(r.High, 1) {
		t.Errorf("%+v %v", r, err)
	}
}

// TestOrderOfMessages: a last message that may have arrived before the stamp of the first one did not arrive before the first: no time between them is negative.
func TestOrderOfMessages(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	rec, reply := doubted([]float64{160, 170}, []float64{20, 30})
	add(r, rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1})
	s := r.Summary(Window{})
	for _, c := range []struct {
		tag       string
		low, high float64
	}{
		{"time_to_first_token", 40, 60}, {"request_latency", 40, 70}, {"inter_token_latency", 0, 30}, {"time_to_second_token", 0, 30},
	} {
		got := s.Bounds.Of(c.tag, Avg, s.Value(c.tag, Avg))
		if math.Abs(got.Low-c.low) > 1e-6 || math.Abs(got.High-c.high) > 1e-6 {
			t.Errorf("%s: %+v, want %v to %v", c.tag, got, c.low, c.high)
		}
	}
}

// TestLimitsOfTheVerdict: each limit of the judgement is allowed; what is beyond it is not.
func TestLimitsOfTheVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		turn    func(*ClientStats)
		verdict Verdict
	}{
		{"99 % sent", func(e *ClientStats) { e.Sent = 990 }, VerdictValid},
		{"less sent", func(e *ClientStats) { e.Sent = 989 }, VerdictRateNotReached},
		{"90 % of its cores", func(e *ClientStats) { e.CPUShare = 0.9 }, VerdictValid},
		{"more of its cores", func(e *ClientStats) { e.CPUShare = 0.901 }, VerdictClientLimited},
		{"slots full for 1 % of the time", func(e *ClientStats) { e.BusyShare = 0.01 }, VerdictValid},
		{"slots full for longer", func(e *ClientStats) { e.BusyShare = 0.011 }, VerdictServerLimited},
		{"10 ms late at 100 requests/s", func(e *ClientStats) { e.OwnLagP99 = 10 * msec }, VerdictValid},
		{"later at 100 requests/s", func(e *ClientStats) { e.OwnLagP99 = 10*msec + 1 }, VerdictClientLimited},
		{"a tenth of the interval late", func(e *ClientStats) { e.OwnLagP99, e.Asked, e.Drawn, e.Sent = 100*msec, 10, 10, 10 }, VerdictValid},
		{"later than that", func(e *ClientStats) { e.OwnLagP99, e.Asked, e.Drawn, e.Sent = 101*msec, 10, 10, 10 }, VerdictClientLimited},
		{"few losses of the client among many", func(e *ClientStats) { e.Sent, e.Lost.Client, e.Lost.Cap = 799, 100, 101 }, VerdictServerLimited},
	} {
		e := open()
		c.turn(&e)
		if v := Assess(e, nil, nil); v.Verdict != c.verdict {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
	}
	e := ClientStats{ThreadWait: 1, CPUTime: 3}
	if e.waitShare() != 0.25 {
		t.Errorf("1 s of waiting and 3 s of running: %g of the time it wanted to run", e.waitShare())
	}
}

// TestNothingIsExact: where every figure that decides is known only approximately, none is called exact.
func TestNothingIsExact(t *testing.T) {
	s := stated(150, 100, 150)
	for _, tag := range []string{"time_to_first_token", "request_latency"} {
		for _, stat := range judgedStats {
			s.Bounds.set(tag, stat, 50, 150)
		}
	}
	if v := Assess(calm(), s, nil); v.Verdict != VerdictUncertain || strings.Contains(v.Reason, "accurate to 4 %") {
		t.Error(v.Sentence())
	}
}
