package comparison

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// withBounds gives a run the limits of its p99 latency, as factors of its value.
func withBounds(r Run, low, high float64) Run {
	sorted := slices.Clone(r.Values["request_latency"])
	slices.Sort(sorted)
	stated := sorted[len(sorted)*99/100]
	r.Stated = map[string]map[metric.Stat]float64{"request_latency": {metric.P99: stated}}
	r.Bounds = metric.Bounds{"request_latency": {metric.P99: {Low: stated * low, High: stated * high}}}
	return r
}

// TestBoundsPerStatistic: a statistic whose limits are far apart is not judged, whatever the verdict of the run; the others of that run are. Close limits
// widen its interval.
func TestBoundsPerStatistic(t *testing.T) {
	for _, several := range []bool{false, true} {
		a, exact, narrow, wide := []Run{made(1, 4000, 100)}, []Run{made(2, 4000, 130)}, []Run{withBounds(made(2, 4000, 130), 0.97, 1)}, []Run{withBounds(made(2, 4000, 130), 0.7, 1)}
		if several {
			a = append(a, made(3, 4000, 100))
			exact, narrow, wide = append(exact, made(4, 4000, 130)), append(narrow, withBounds(made(4, 4000, 130), 0.97, 1)), append(wide, withBounds(made(4, 4000, 130), 0.7, 1))
		}
		var p99 []*Line
		for _, b := range [][]Run{exact, narrow, wide} {
			r, err := Compare(a, b, usual)
			if err != nil {
				t.Fatal(err)
			}
			if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != Worse {
				t.Errorf("the mean has no limits: %s", l.Sentence(0.95))
			}
			p99 = append(p99, lineOf(t, r, "request_latency", "p99"))
		}
		if p99[0].Outcome != Worse || p99[1].Outcome != Worse || p99[2].Outcome != Cannot || !strings.Contains(p99[2].Reason, "request latency p99 is known only as ") {
			t.Errorf("%s\n%s\n%s", p99[0].Sentence(0.95), p99[1].Sentence(0.95), p99[2].Sentence(0.95))
		}
		if !(p99[1].Low < p99[0].Low) || math.Abs(p99[1].High-p99[0].High) > 1e-9 || p99[1].Difference != p99[0].Difference {
			t.Errorf("several %v: limits of 3 %% below take %g to %g; without them %g to %g", several, p99[1].Low, p99[1].High, p99[0].Low, p99[0].High)
		}
	}
}

// summaries writes a run with a summary.
func summaries(t *testing.T, dir, summary string) string {
	t.Helper()
	var lines strings.Builder
	for k := range 300 {
		start := int64(1e18) + int64(k)*100_000_000
		took := int64(50_000_000)
		if k == 299 {
			took = 3_000_000_000 // a stall ends the run
		}
		fmt.Fprintf(&lines, `{"metadata":{"benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"request_latency":{"value":%g}}}`+"\n", start, start+took, float64(took)/1e6)
	}
	for name, text := range map[string]string{recordsFile: lines.String(), summaryFile: summary} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loaded is the run of a directory.
func loaded(t *testing.T, dir string, skip float64) Run {
	t.Helper()
	runs, err := Load(dir, skip)
	if err != nil || len(runs) != 1 {
		t.Fatal(err)
	}
	return runs[0]
}

// TestThroughputOfTheReport: the throughput is that of the report, requests over the time to the last end, also where a stall ends the run; its interval holds
// the rate until the last start too.
func TestThroughputOfTheReport(t *testing.T) {
	s := statistic{"request_throughput", "avg", "requests/sec", 0, true, false}
	const sending, all = 29.9, 32.9 // s
	for name, c := range map[string]struct {
		summary string
		skip    float64
		want    float64
	}{
		"from the records": {`{}`, 0, 300 / all}, "as stated": {`{"request_throughput":{"unit":"requests/sec","avg":9.118}}`, 0, 9.118},
		"without its start": {`{"request_throughput":{"unit":"requests/sec","avg":9.118}}`, 10, 201 / (all - 10)}, // the answer of 9.95 s came at 10.0 s
	} {
		r := loaded(t, summaries(t, t.TempDir(), c.summary), c.skip)
		if c.skip > 0 {
			n := 0.0
			for _, at := range r.Ends {
				if at >= c.skip {
					n++
				}
			}
			c.want = n / (all - c.skip)
		}
		v, ok := s.value(&r)
		if !ok || math.Abs(v-c.want) > 1e-3 {
			t.Errorf("%s: %v, want %v", name, v, c.want)
		}
		e := s.estimate(&r)
		low, high := e.Limits(0.95)
		if steady := 299 / sending; e.Value != v || !(low <= v) || !(high >= 0.99*steady) {
			t.Errorf("%s: %v (%v to %v), until the last start %v", name, e.Value, low, high, steady)
		}
	}
}

// TestCopiedRun: a copy of a run is the same run; different machines of the client are noted.
func TestCopiedRun(t *testing.T) {
	run := func(id, machine string) Run {
		return loaded(t, summaries(t, filepath.Join(t.TempDir(), "run"), `{"benchmark_id":"`+id+`","validity":{"verdict":"valid","client_machine":"`+machine+`","client_cores":2}}`), 0)
	}
	a, copied, b, elsewhere := run("aaaa", "m1"), run("aaaa", "m1"), run("bbbb", "m1"), run("cccc", "m2")
	if _, err := Compare([]Run{a}, []Run{copied}, usual); err == nil || !strings.Contains(err.Error(), "are the same run (benchmark id aaaa)") || !strings.Contains(err.Error(), "--allow-invalid") {
		t.Error(err)
	}
	shown := usual
	shown.Invalid = true
	r, err := Compare([]Run{a}, []Run{copied}, shown)
	if err != nil || r.Outcome != Cannot || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "same run") }) || lineOf(t, r, "request_latency", "mean").Reason != "a run is listed twice" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := Compare([]Run{a, b}, []Run{elsewhere, copied}, usual); err == nil {
		t.Error("a copy among several runs is taken")
	}
	machines := func(x, y Run) bool {
		r, err := Compare([]Run{x}, []Run{y}, usual)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.Contains(n, "different client machines (m1, 2 cores; m2, 2 cores)")
		})
	}
	if machines(a, b) || !machines(a, elsewhere) {
		t.Error("different machines are not noted, or equal ones are")
	}
	none := run("dddd", "")
	none.Machine = ""
	if machines(a, none) {
		t.Error("an unknown machine is a different one")
	}
}

// TestUncertainRun: limits in the summary judge single statistics; without them an uncertain run is not judged, and the refusal says how to see it.
func TestUncertainRun(t *testing.T) {
	bounded := loaded(t, summaries(t, t.TempDir(), `{"time_to_first_token":{"unit":"ms","p99":82},"validity":{"verdict":"uncertain","bounds":{"time_to_first_token":{"p99":{"low":60,"high":82}}}}}`), 0)
	if bounded.Doubt != "" || bounded.Stated["time_to_first_token"][metric.P99] != 82 {
		t.Errorf("%+v", bounded.Doubt)
	}
	ttft := statistic{"time_to_first_token", "p99", "ms", .99, false, true}
	if d := ttft.doubt(&bounded); !strings.HasSuffix(d, "time to first token p99 is known only as 60 to 82 ms") {
		t.Error(d)
	}
	old := loaded(t, summaries(t, t.TempDir(), `{"validity":{"verdict":"uncertain"}}`), 0)
	if _, err := Compare([]Run{old}, []Run{bounded}, usual); err == nil || !strings.Contains(err.Error(), "cannot be compared: its latencies are uncertain. Repeat it on a quieter machine, or add --allow-invalid") {
		t.Error(err)
	}
}

// TestRemedy: the advice for an interrupted run is to repeat it; the advice for a run limited by its client is a quieter machine.
func TestRemedy(t *testing.T) {
	for summary, want := range map[string]string{
		`{"was_cancelled":true}`:                    "cannot be compared: the run was cut short. Repeat it, or add --allow-invalid",
		`{"is_complete":false}`:                     "cannot be compared: the run is not complete. Repeat it, or add --allow-invalid",
		`{"validity":{"verdict":"client limited"}}`: "cannot be compared: the client was the limit. Repeat it on a quieter machine, or add --allow-invalid",
		`{"validity":{"verdict":"uncertain","slot_seconds":13,"slot_lost_seconds":0.1,"slot_unsure_seconds":3.9}}`: "cannot be compared: the client may have been the limit. Repeat it on a quieter machine, or add --allow-invalid",
	} {
		run := loaded(t, summaries(t, t.TempDir(), summary), 0)
		if _, err := Compare([]Run{run}, []Run{run}, usual); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", summary, err)
		}
	}
}

// TestOtherObjectives: goodput is not judged if the runs count requests by different objectives; the order of the objectives does not matter.
func TestOtherObjectives(t *testing.T) {
	of := func(slos string) Run {
		r := loaded(t, summaries(t, t.TempDir(), `{"validity":{"verdict":"valid"},"input_config":{"slos":`+slos+`}}`), 0)
		for range r.Ends {
			r.MetObjectives = append(r.MetObjectives, 1)
		}
		return r
	}
	a := of(`{"time_to_first_token":200,"request_latency":1000.5}`)
	for slos, judged := range map[string]bool{
		`{"request_latency":1000.5,"time_to_first_token":200}`: true, `{"time_to_first_token":200}`: false, `{"time_to_first_token":100,"request_latency":1000.5}`: false, `{}`: true,
	} {
		r, err := Compare([]Run{a}, []Run{of(slos)}, usual)
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Tag == "goodput" })
		said := slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.HasPrefix(n, "goodput is not judged: its objectives differ (request_latency:1000.5 time_to_first_token:200 and ")
		})
		if has != judged || said == judged {
			t.Errorf("%s: judged %t, %q", slos, has, r.Notes)
		}
	}
}
