package adaptive

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// rising is a controller from 1 to 100 over p95 latency below 100 ms, and what it reported.
func rising(change func(s *Settings)) (c *Controller, told *[]*Event) {
	s := Settings{
		Variable: "concurrency", Whole: true, Min: 1, Max: 100, Conditions: []Condition{{"request_latency", "p95", "lt", 100}}, Policy: Margin, BaseStep: 10,
		MaxMultiplier: 4, StepPercent: 25, Least: 1, Sustain: 4 * time.Second,
	}
	if change != nil {
		change(&s)
	}
	told = new([]*Event)
	return New(s, func(e *Event) { *told = append(*told, e) }), told
}

// clocked feeds windows of two seconds.
type clocked struct {
	*Controller
	now time.Time
}

func (c *clocked) window(errors, cancelled int, latencies ...float64) float64 {
	w := &Window{From: c.now, To: c.now.Add(2 * time.Second), Errors: errors, Cancelled: cancelled}
	for _, ms := range latencies {
		w.Requests = append(w.Requests, Request{Latency: ms, FirstToken: ms / 2, InterToken: math.NaN(), Tokens: 5})
	}
	c.now = w.To
	c.Assess(w)
	return c.Value()
}

func start(change func(s *Settings)) (*clocked, *[]*Event) {
	c, told := rising(change)
	return &clocked{c, time.Unix(1000, 0)}, told
}

// TestSteps: the values that follow windows of one latency each, worked out by hand. With sla_margin and 100 ms as the bound: 10 ms leaves a margin
// of 0.9, ⌊0.9·4⌋ = 3 base steps; 60 ms 0.4, one; 100 ms and more fail.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(s *Settings)
		windows []float64
		values  []float64
		reason  string
	}{
		"margins":                   {nil, []float64{10, 60, 30, 150, 50, 50}, []float64{31, 41, 61, 41, 41, 41}, Sustained},
		"a full margin is the most": {func(s *Settings) { s.MaxMultiplier = 2; s.BaseStep = 3 }, []float64{0, 99, 10}, []float64{7, 10, 13}, ""},
		"the highest value":         {func(s *Settings) { s.Max = 20 }, []float64{10, 10}, []float64{20, 20}, AtMaximum},
		"none holds":                {nil, []float64{100}, []float64{1}, NoneHolds},
		"percent":                   {func(s *Settings) { s.Policy = Percent; s.Min = 10 }, []float64{10, 10, 10, 200, 10}, []float64{13, 17, 22, 17, 17}, ""},
		"percent, at least 1":       {func(s *Settings) { s.Policy = Percent; s.StepPercent = 1 }, []float64{10, 10}, []float64{2, 3}, ""},
		// 31 passed, 61 failed; held at 31 it fails: no lower value has passed, so one step of a window without margin down; then it fails again.
		"it fails twice while held":           {nil, []float64{10, 20, 150, 150, 150}, []float64{31, 61, 31, 21, 21}, FailedAgain},
		"a pass between failures":             {func(s *Settings) { s.Sustain = 10 * time.Second }, []float64{10, 20, 150, 150, 10, 150, 10, 10}, []float64{31, 61, 31, 21, 21, 11, 11, 11}, Sustained},
		"the lowest value fails":              {nil, []float64{10, 150, 150}, []float64{31, 1, 1}, Unrecoverable},
		"a rate keeps its fraction":           {func(s *Settings) { s.Variable, s.Whole, s.Min = "request_rate", false, 0.5 }, []float64{60, 150}, []float64{10.5, 0.5}, ""},
		"a bound from below, a margin beyond": {func(s *Settings) { s.Conditions = []Condition{{"request_latency", "avg", "gt", 10}} }, []float64{15, 30}, []float64{21, 61}, ""},
		"the smallest margin counts": {func(s *Settings) {
			s.Conditions = append(s.Conditions, Condition{"ttft", "max", "le", 10})
		}, []float64{10, 19}, []float64{21, 31}, ""},
		"a bound of 0 has no margin": {func(s *Settings) { s.Conditions = []Condition{{"error_rate", "avg", "le", 0}} }, []float64{10}, []float64{11}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, told := start(c.change)
			for i, ms := range c.windows {
				if got := k.window(0, 0, ms); got != c.values[i] {
					t.Fatalf("window %d: %v, want %v", i, got, c.values[i])
				}
			}
			if k.reason != c.reason || k.Done() != (c.reason != "") {
				t.Errorf("reason %q, want %q", k.reason, c.reason)
			}
			last := (*told)[len(*told)-1]
			if c.reason != "" && (last.Reason != c.reason || last.state != complete) {
				t.Errorf("the last event is %s %s", last.Name, last.Reason)
			}
		})
	}
}

// TestWindowsWithoutSuccess: they fail, unless the conditions are about failures; a window with nothing in it decides nothing.
func TestWindowsWithoutSuccess(t *testing.T) {
	failures := func(bound float64) func(s *Settings) {
		return func(s *Settings) { s.Conditions = []Condition{{"error_rate", "avg", "le", bound}} }
	}
	for name, c := range map[string]struct {
		change            func(s *Settings)
		errors, cancelled int
		value             float64
		reason            string
	}{
		"nothing":                        {nil, 0, 0, 1, ""},
		"errors":                         {nil, 3, 0, 1, NoneHolds},
		"allowed errors":                 {failures(100), 3, 0, 11, ""},
		"too many errors":                {failures(50), 3, 0, 1, NoneHolds},
		"cancelled, nobody asked":        {failures(100), 0, 2, 1, NoneHolds},
		"both, one is asked for":         {failures(100), 1, 1, 1, NoneHolds},
		"cancelled, as the level allows": {func(s *Settings) { s.Conditions = []Condition{{"cancellation_rate", "avg", "le", 1}} }, 0, 2, 11, ""},
	} {
		k, _ := start(c.change)
		if got := k.window(c.errors, c.cancelled); got != c.value || k.reason != c.reason {
			t.Errorf("%s: %v %q, want %v %q", name, got, k.reason, c.value, c.reason)
		}
	}
	k, told := start(func(s *Settings) { s.Least = 3 })
	if got := k.window(0, 0, 10, 10); got != 1 || (*told)[0].Passed != nil || k.candidates[0].rejected != "insufficient_samples" {
		t.Errorf("two requests of three decided: %v", got)
	}
	if got := k.window(0, 0, 10, 10, 10); got != 31 {
		t.Errorf("three requests decided nothing: %v", got)
	}
}

// TestValues: every metric of a window of 4 s, by hand.
func TestValues(t *testing.T) {
	at := time.Unix(0, 0)
	w := &Window{From: at, To: at.Add(4 * time.Second), Errors: 1, Cancelled: 3, Requests: []Request{
		{100, 10, 1, 20}, {200, 20, 2, 20}, {300, 30, 3, math.NaN()}, {400, math.NaN(), math.NaN(), 8},
	}}
	quality := Condition{"request_latency", "p95", "le", 200}
	for c, want := range map[Condition]float64{
		{"request_latency", "avg", "lt", 1}: 250, {"request_latency", "min", "lt", 1}: 100, {"request_latency", "max", "lt", 1}: 400,
		{"request_latency", "p50", "lt", 1}: 250, {"request_latency", "p95", "lt", 1}: 385, {"ttft", "p50", "lt", 1}: 20, {"time_to_first_token", "max", "lt", 1}: 30,
		{"itl", "avg", "lt", 1}: 2, {"tpot", "max", "lt", 1}: 3, {"request_throughput", "avg", "gt", 1}: 1, {"output_token_throughput", "min", "gt", 1}: 12,
		{"goodput", "avg", "gt", 1}: 0.5, {"goodput_ratio", "avg", "gt", 1}: 0.25, {"success_rate", "avg", "gt", 1}: 0.5, {"error_rate", "avg", "lt", 1}: 20,
		{"cancellation_rate", "max", "lt", 1}: 0.375,
	} {
		if got := c.value(w, []Condition{quality, c}); math.Abs(got-want) > 1e-12 {
			if c.Metric != "goodput" && c.Metric != "goodput_ratio" {
				t.Errorf("%s: %v, want %v", c.Key(), got, want)
				continue
			}
			t.Errorf("%s: %v, want %v good", c.Key(), got, want)
		}
	}
	if got := (Condition{"ttft", "p95", "lt", 5}).value(&Window{Requests: []Request{{1, math.NaN(), math.NaN(), 1}}}, nil); !math.IsInf(got, 1) {
		t.Errorf("no first token: %v", got)
	}
}

func TestCheck(t *testing.T) {
	latency := Condition{"request_latency", "p95", "lt", 5}
	for want, list := range map[string][]Condition{
		"": {latency, {"goodput", "avg", "ge", 3}}, "is not supported; allowed are": {{"e2e", "p95", "lt", 5}}, `op "eq"`: {{"ttft", "p95", "eq", 5}},
		`stat "p42"`: {{"ttft", "p42", "lt", 5}}, "a window has only one value of error_rate": {{"error_rate", "p95", "lt", 5}}, "is a percentage": {{"error_rate", "avg", "lt", 101}},
		"needs a second condition, on request_latency": {{"goodput", "avg", "ge", 3}, {"error_rate", "avg", "lt", 1}},
	} {
		if got := Check(list, 0) + Check(list, len(list)-1); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFiles: an event and the summary, as the tools that read the Python tool's files expect them.
func TestFiles(t *testing.T) {
	k, told := start(func(s *Settings) { s.Variable = "users" })
	k.Begin(k.now)
	for _, ms := range []float64{10, 150, 50, 50} {
		k.window(1, 0, ms)
	}
	of := &Origin{BenchmarkID: "b", Phase: "main", Kind: "profiling", Index: 1, Users: func() int { return 4 }}
	var events []map[string]any
	for _, e := range *told {
		line, err := e.JSON(of)
		if err != nil {
			t.Fatal(err)
		}
		one := map[string]any{}
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		events = append(events, one)
	}
	var names []string
	for _, e := range events {
		names = append(names, fmt.Sprintf("%s %s %v>%v", e["event"], e["phase"], e["control_value_before"], e["control_value_after"]))
	}
	want := []string{
		"adaptive_phase_started discover 1>1", "adaptive_window discover 1>1", "adaptive_decision discover 1>31", "adaptive_window discover 31>31",
		"sustain_started sustain 31>1", "boundary_discovered sustain 1>1", "adaptive_window sustain 1>1", "adaptive_decision sustain 1>1", "adaptive_window sustain 1>1",
		"adaptive_decision sustain 1>1", "adaptive_complete complete 1>1",
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("%q\nwant\n%q", names, want)
	}
	for key, want := range map[string]any{
		"schema_version": 2.0, "timestamp_utc": "1970-01-01T00:16:42.000000Z", "sla_value": 10.0, "sla_bound": 100.0, "binding_sla": "request_latency:p95:lt:100", "sla_passed": true,
		"completed": 1.0, "errored": 1.0, "sent": 2.0, "throughput": 0.5, "phase_index": 1.0, "profiling_index": 0.0, "adaptive_iteration": 0.0, "in_flight": nil, "run_id": "b",
		"sla_values": map[string]any{"request_latency:p95:lt:100": 10.0},
		"control":    map[string]any{"target_value": 1.0, "actual_value": 4.0, "active_users": 4.0, "retiring_users": 3.0, "cancelled": 0.0},
	} {
		if got := events[1][key]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	data, err := k.Summary(of)
	if err != nil {
		t.Fatal(err)
	}
	summary := map[string]any{}
	if err = json.Unmarshal(data, &summary); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"status": "completed", "completed_reason": Sustained, "boundary_value": 1.0, "last_passing_value": 1.0, "first_failing_value": 31.0, "sustain_windows": 2.0,
		"sustain_passed_windows": 2.0, "sla_passed_during_sustain": true, "sustain_started_at": 1004e9, "sustain_duration_seconds": 4.0, "step_percent": 25.0,
		"totals": map[string]any{"sent": 2.0, "completed": 1.0, "errored": 1.0, "cancelled": 0.0},
	} {
		if got := summary[key]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	second := summary["candidates"].([]any)[1].(map[string]any)
	for key, want := range map[string]any{
		"candidate_value": 31.0, "accepted": false, "rejection_reason": "sla_miss", "latency_p99_ms": 150.0, "ttft_p50_ms": 75.0, "itl_p95_ms": 0.0, "duration_s": 2.0, "success_rate": 0.5,
	} {
		if got := second[key]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}
