package plan

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestUncertainCellsThatAreDecided: a cell with an uncertain verdict counts where its conditions hold, or do not, at both ends of what their metrics may
// be, and where the objective is known if the search goes by it. The runs have a TTFT of 50 ms, a latency of 1,500 ms and 2 requests/s.
func TestUncertainCellsThatAreDecided(t *testing.T) {
	ttft := func(low, high float64) metric.Bounds {
		return metric.Bounds{"time_to_first_token": {metric.P99: {Low: low, High: high}}}
	}
	wide := metric.Bounds{"output_token_throughput": {metric.Avg: {Low: 15, High: 17}}}
	both := metric.Bounds{"time_to_first_token": ttft(10, 90)["time_to_first_token"], "output_token_throughput": {metric.Avg: {Low: 10, High: 17}}}
	for name, c := range map[string]struct {
		planner  string
		sla      string
		bounds   metric.Bounds
		feasible bool
		breach   string
		doubt    string
		verdict  metric.Verdict // "" = uncertain
		client   metric.ClientStats
	}{
		"kept at both ends":                         {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:60", bounds: ttft(40, 55), feasible: true},
		"broken at both ends":                       {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:40", bounds: ttft(41, 55), breach: "time_to_first_token:p99:lt:40"},
		"around the limit":                          {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:45", bounds: ttft(40, 55), doubt: "time_to_first_token p99 lies between 40.0 and 55.0, around its limit of 45"},
		"without an upper end":                      {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:45", bounds: ttft(40, math.Inf(1)), doubt: "time_to_first_token p99 is 40.0 or more, around its limit of 45"},
		"another metric is unknown":                 {planner: "monotonic_sla", sla: "request_latency:avg:lt:2000", bounds: ttft(10, 900), feasible: true},
		"another condition is broken":               {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:45 request_latency:avg:lt:1000", bounds: ttft(40, 55), breach: "request_latency:avg:lt:1000"},
		"an older version, without bounds":          {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:60", doubt: "time_to_first_token p99 is 0 or more, around its limit of 60"},
		"the objective is unknown":                  {planner: "bayesian", bounds: wide, doubt: "output_token_throughput lies between 15.0 and 17.0"},
		"the objective is unknown and not gone by":  {planner: "monotonic_sla", sla: "request_latency:avg:lt:2000", bounds: wide, feasible: true},
		"the objective is known":                    {planner: "bayesian", bounds: ttft(10, 900), feasible: true},
		"a broken condition, the objective unknown": {planner: "bayesian", sla: "request_latency:avg:lt:1000", bounds: both, breach: "request_latency:avg:lt:1000"},
		"a warm cache, exact figures": {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:60", feasible: true,
			client: metric.ClientStats{CacheUse: metric.CacheUse{CacheSource: "usage", CacheReported: 92}}},
		"the client was the limit": {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:40", doubt: "client limited", verdict: metric.VerdictClientLimited},
		"the client may be the limit": {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:40", doubt: "the client may have been the limit",
			client: metric.ClientStats{SlotUse: metric.SlotUse{SlotTime: time.Second, SlotTimeUnsure: 100 * time.Millisecond}}},
		"the server was the limit": {planner: "monotonic_sla", sla: "time_to_first_token:p99:lt:60", feasible: true, verdict: metric.VerdictServerLimited},
	} {
		t.Run(name, func(t *testing.T) {
			c.verdict = cmp.Or(c.verdict, metric.VerdictUncertain)
			run := measured(t, 3, 0)
			run.Validity = &metric.Validity{Verdict: c.verdict, Bounds: c.bounds, ClientStats: c.client}
			r := searchOf(c.planner, "int", 1, 1000)
			for _, text := range strings.Fields(c.sla) {
				f := strings.Split(text, ":")
				limit, err := strconv.ParseFloat(f[3], 64)
				if err != nil {
					t.Fatal(err)
				}
				r.Sweep.SLAFilters = append(r.Sweep.SLAFilters, config.SLAFilter{MetricTag: f[0], Stat: f[1], Op: f[2], Threshold: limit})
			}
			q, err := (&invocation{run: r}).newSearch()
			if err != nil {
				t.Fatal(err)
			}
			q.trials = []trial{{run: run}}
			q.judgeCell(0, []float64{8}, &config.Cell{Label: "8"})
			p := &q.probes[0]
			breach := ""
			if p.breach != nil {
				breach = p.breach.String()
			}
			if p.feasible != c.feasible || breach != c.breach || p.doubt != c.doubt || len(q.evidence()) != map[bool]int{true: 1}[c.doubt == ""] {
				t.Errorf("kept %v, broken %q, doubt %q; want %v, %q, %q", p.feasible, breach, p.doubt, c.feasible, c.breach, c.doubt)
			}
			if h := q.history[0]; h.Feasible != c.feasible || h.Reason != c.doubt || (h.Breach != nil) != (c.breach != "") {
				t.Errorf("the history says %+v", h)
			}
		})
	}
}

// TestUncertainTiers: a cell that one service level cannot use still decides for another level, and is asked for six times at most.
func TestUncertainTiers(t *testing.T) {
	run := measured(t, 3, 0)
	run.Validity = &metric.Validity{Verdict: metric.VerdictUncertain, Bounds: metric.Bounds{"time_to_first_token": {metric.P99: {Low: 40, High: 55}}}}
	r := searchOf("monotonic_sla", "int", 1, 1000)
	for _, limit := range []float64{45, 100} {
		r.Sweep.SLATiers = append(r.Sweep.SLATiers, config.SLATier{Label: "t", Filters: []config.SLAFilter{{MetricTag: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: limit}}})
	}
	q, err := (&invocation{run: r}).newSearch()
	if err != nil {
		t.Fatal(err)
	}
	for k := range maxUncertain {
		if said := q.givenUp(); len(q.probes) > 0 && said != "" {
			t.Fatalf("after %d: %s", k, said)
		}
		q.trials, q.cells = append(q.trials, trial{cell: k, run: run}), append(q.cells, config.Cell{Label: "8"})
		q.judgeCell(k, []float64{8}, &q.cells[k])
	}
	if narrow, wide := seenBy(q.evidence(), 0), seenBy(q.evidence(), 1); len(narrow) != 0 || len(wide) != maxUncertain || !wide[0].feasible {
		t.Errorf("the first level sees %+v, the second %+v", narrow, wide)
	}
	if said, want := q.givenUp(), "8 was run 6 times without a valid measurement: time_to_first_token p99 lies between 40.0 and 55.0, around its limit of 45"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestTierThatIsSurelyBroken: a cell that leaves a condition of all levels open still tells a level of which another condition is broken.
func TestTierThatIsSurelyBroken(t *testing.T) {
	run := measured(t, 3, 0)
	run.Validity = &metric.Validity{Verdict: metric.VerdictUncertain, Bounds: metric.Bounds{"time_to_first_token": {metric.P99: {Low: 40, High: 55}}}}
	r := searchOf("monotonic_sla", "int", 1, 1000)
	r.Sweep.SLAFilters = []config.SLAFilter{{MetricTag: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 45}}
	for _, limit := range []float64{1000, 2000} {
		r.Sweep.SLATiers = append(r.Sweep.SLATiers, config.SLATier{Label: "t", Filters: []config.SLAFilter{{MetricTag: "request_latency", Stat: "avg", Op: "lt", Threshold: limit}}})
	}
	q, err := (&invocation{run: r}).newSearch()
	if err != nil {
		t.Fatal(err)
	}
	q.trials = []trial{{run: run}}
	q.judgeCell(0, []float64{8}, &config.Cell{Label: "8"})
	if broken, open := seenBy(q.evidence(), 0), seenBy(q.evidence(), 1); len(broken) != 1 || broken[0].feasible || len(open) != 0 || q.probes[0].feasible {
		t.Errorf("the first level sees %+v, the second %+v", broken, open)
	}
}

// TestMeanAtItsLimit: a cell of several exact runs is judged by the mean that its report shows, to the last digit.
func TestMeanAtItsLimit(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	r := searchOf("monotonic_sla", "int", 1, 1000)
	r.Sweep.SLAFilters = []config.SLAFilter{{MetricTag: "request_latency", Stat: "avg", Op: "le", Threshold: 0.2}}
	q, err := (&invocation{run: r}).newSearch()
	if err != nil {
		t.Fatal(err)
	}
	for _, latency := range []int64{100_000, 200_000, 300_000} { // ns; the plain sum 0.1 + 0.2 + 0.3 is above 0.6
		one := set.NewReducer()
		at := 1_000_000 + latency
		rec := &record.Record{Start: 1_000_000, End: at, WallOffset: 1e18}
		one.Add(set.Row(rec, &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: at, Text: "a"}}}, record.Counts{Input: 5, Output: 1, Reasoning: -1}))
		q.trials = append(q.trials, trial{run: &metric.Run{Profiling: one.Summary(metric.Window{})}})
	}
	q.judgeCell(0, []float64{8}, &config.Cell{Label: "8"})
	if h := q.history[0]; !h.Feasible || h.Breach != nil {
		t.Errorf("feasible %v, breach %+v", h.Feasible, h.Breach)
	}
}
