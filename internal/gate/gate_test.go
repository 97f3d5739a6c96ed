package gate

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"aiperf/internal/metric"
)

// run is a run with a p99 of the time to first token and some failures.
func run(p99 float64, failed int64) *metric.Run {
	var v [metric.Stats]float64
	for i := range v {
		v[i] = math.NaN()
	}
	v[metric.P99] = p99
	return &metric.Run{Profiling: metric.SummaryOf(map[string][metric.Stats]float64{"time_to_first_token": v}, 98, failed)}
}

func TestParse(t *testing.T) {
	g, err := Parse(" time_to_first_token:p99 >= 2e2")
	if err != nil || g.Tag != "time_to_first_token" || g.Stat != metric.P99 || g.Op != ">=" || g.Limit != 200 {
		t.Errorf("%+v %v", g, err)
	}
	for text, want := range map[string]string{
		"ttft": "is no condition", "time_to_first_tokn:p99>1": "did you mean time_to_first_token?", "error_rate:p98>1": "no statistic p98", "error_rate>1-": "not a number",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestJudge: hand-computed means; what was not measured fails.
func TestJudge(t *testing.T) {
	gates, err := Parsed([]string{"time_to_first_token:p99>200", "error_rate>1", "inter_token_latency:p50>5", "error_rate < 1"})
	if err != nil {
		t.Fatal(err)
	}
	subjects := []Subject{{Name: "a", Runs: []*metric.Run{run(150, 2), run(260, 2)}}, {Name: "b", Runs: []*metric.Run{run(100, 0)}}, {Name: "c", Fault: "unreachable"}}
	results := Judge(gates, subjects)
	var got strings.Builder
	for i := range results {
		got.WriteString(map[bool]string{true: "F", false: "."}[results[i].Failed])
	}
	if got.String() != "FFF."+"..FF"+"FFFF" || Failures(results) != 9 {
		t.Errorf("%s, %d failed", got.String(), Failures(results))
	}
	if s := results[0].Sentence(); s != "a: time_to_first_token p99 is 205 ms: time_to_first_token:p99>200" {
		t.Error(s)
	}
	if s := results[1].Sentence(); s != "a: error_rate is 2 %: error_rate>1" {
		t.Error(s)
	}
	text, err := JUnit(subjects, results)
	var back struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err != nil || xml.Unmarshal(text, &back) != nil || back.Tests != 15 || back.Failures != 10 {
		t.Errorf("%v %+v\n%s", err, back, text)
	}
	if md := string(StepSummary(subjects, results)); !strings.Contains(md, "| a | – | – | – | 205 |") || !strings.Contains(md, "**failed**: a: error_rate is 2 %: error_rate>1") || !strings.Contains(md, "time_to_first_token p99 is 100 ms: not") {
		t.Error(md)
	}
}
