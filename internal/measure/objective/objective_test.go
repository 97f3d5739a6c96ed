package objective

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestParse: both forms, short names, units, and statistics by other names.
func TestParse(t *testing.T) {
	for text, want := range map[string]Limit{
		"time_to_first_token:p99<200":      {Tag: "time_to_first_token", Stat: "p99", Op: "<", Value: 200},
		" ttft : p99 <= 0.2 s ":            {Tag: "time_to_first_token", Stat: "p99", Op: "<=", Value: 200},
		"p99(ttft)<200ms":                  {Tag: "time_to_first_token", Stat: "p99", Op: "<", Value: 200},
		"P95(e2e)<1m":                      {Tag: "request_latency", Stat: "p95", Op: "<", Value: 60_000},
		"itl<20":                           {Tag: "inter_token_latency", Op: "<", Value: 20},
		"tpot:mean<2e1":                    {Tag: "inter_token_latency", Stat: "avg", Op: "<", Value: 20},
		"median(e2el)<500000us":            {Tag: "request_latency", Stat: "p50", Op: "<", Value: 500},
		"tps>100":                          {Tag: "output_token_throughput", Op: ">", Value: 100},
		"request-throughput>=5":            {Tag: "request_throughput", Op: ">=", Value: 5},
		"request_throughput>5requests/sec": {Tag: "request_throughput", Op: ">", Value: 5},
		"error_rate<1%":                    {Tag: ErrorRate, Op: "<", Value: 1},
		"errors<1":                         {Tag: ErrorRate, Op: "<", Value: 1},
	} {
		got, err := Parse(text)
		if want.Text = strings.TrimSpace(text); err != nil || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
}

// TestParseFaults: errors name what is wrong and what to write.
func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"ttft": "write METRIC:STAT<VALUE, for example ttft:p99<200ms", "": "is not a limit", "ttft:p99==2": "is not a limit", "a<b<c": "there is no metric a",
		"time_to_first_tokn<1": "did you mean time_to_first_token?", "ttft:p100<1": "statistics are avg", "ttft:p99<1parsec": "are in ms, not in parsec; write for example 200ms",
		"ttft:p99<fast": "write one with or without a unit, for example 200ms", "tps>5s": "are in tokens/sec, not in s", "ttft<1e999": "not a number in range", "error_rate<1ms": "are in %, not in ms",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestOpposite: a limit and its opposite are never both true; good runs are below limits of latencies and above those of throughputs.
func TestOpposite(t *testing.T) {
	for text, want := range map[string]string{"ttft:p99<200ms": "time_to_first_token:p99>=200ms", "tps>100": "output_token_throughput<=100tokens/sec", "errors<=1": "error_rate>1%", "rps>=5": "request_throughput<5requests/sec"} {
		l, err := Parse(text)
		if good, certain := l.Good(); err != nil || !good || !certain || l.Opposite() != want {
			t.Errorf("%s: good %v, certain %v, opposite %s, %v", text, good, certain, l.Opposite(), err)
		}
		o, err := Parse(l.Opposite())
		if good, _ := o.Good(); err != nil || good {
			t.Errorf("opposite of %s: good %v, %v", text, good, err)
		}
	}
}

// TestShortNames: each is the name of a metric, and hides none.
func TestShortNames(t *testing.T) {
	for short, tag := range ShortNames {
		if _, known := metric.Lookup(tag); !known && tag != ErrorRate {
			t.Errorf("%s: there is no metric %s", short, tag)
		}
		if _, hidden := metric.Lookup(short); hidden {
			t.Errorf("%s is a metric of that name", short)
		}
	}
}

// FuzzParse: nothing that is read is lost, and no text panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ttft:p99<200ms", "p99(ttft)<0.2s", "error_rate<1%", "tps>=1e3", "a:b:c<1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(l.Opposite()); err != nil || again.Tag != l.Tag || again.Stat != l.Stat || again.Value != l.Value {
			t.Errorf("%q: the opposite %q is %+v, %v", text, l.Opposite(), again, err)
		}
	})
}
