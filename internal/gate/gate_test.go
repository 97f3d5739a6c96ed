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
	for text, want := range map[string]float64{"time_to_first_token:p99>200 ms": 200, "error_rate>1%": 1, "request_throughput<5 requests/sec": 5, "request_latency:p99>-1e2": -100} {
		if g, err := Parse(text); err != nil || g.Limit != want {
			t.Errorf("%s: %+v %v", text, g, err)
		}
	}
	for text, want := range map[string]string{
		"ttft": "is no condition", "time_to_first_tokn:p99>1": "did you mean time_to_first_token?", "error_rate:p98>1": "no statistic p98", "error_rate>1-": "not a number",
		"time_to_first_token:p99>200s": "are in ms, not in s", "time_to_first_token:p99>200%": "are in ms, not in %", "error_rate>1ms": "are in %, not in ms",
		"error_rate:p99>1": "one value of a run, without p99; write error_rate>1", "request_throughput:p99<5": "write request_throughput<5",
		"request_latency:p99>nan": "is no condition", "request_latency:p99>1e999": "not a number", "request_latency==1": "is no condition",
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

// TestOddNames: names with markup, line ends and characters that XML has not stay one well-formed case and one cell.
func TestOddNames(t *testing.T) {
	gates, err := Parsed([]string{"request_latency:p99>1"})
	if err != nil {
		t.Fatal(err)
	}
	name := "a|b\r\n<x>&\"'\x01]]> ![i](http://h) *é`\\"
	subjects := []Subject{{Name: name, Runs: []*metric.Run{run(1, 0)}}}
	text, err := JUnit(subjects, Judge(gates, subjects))
	var back suites
	if err != nil || xml.Unmarshal(text, &back) != nil || len(back.Suites) != 1 || len(back.Suites[0].Cases) != 2 {
		t.Fatalf("%v\n%s", err, text)
	}
	one := back.Suites[0]
	if want := strings.ReplaceAll(name, "\x01", "\uFFFD"); one.Name != want || one.Cases[1].Failure == nil || one.Cases[1].Failure.Type != "gate" || one.Time != "0.000" {
		t.Errorf("%q, want %q: %+v", one.Name, want, one)
	}
	row := ""
	for line := range strings.Lines(string(StepSummary(subjects, nil))) {
		if strings.HasPrefix(line, "| a") {
			row = line
		}
	}
	if strings.Count(row, "|")-strings.Count(row, `\|`) != 9 || strings.Contains(row, "<x>") || strings.Contains(row, "![i](") {
		t.Errorf("%q", row)
	}
}
