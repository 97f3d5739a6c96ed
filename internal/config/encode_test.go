package config

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// sample is a run that uses most of the layout.
func sample() *Run {
	r := Default()
	seed, path, smooth, rate, seconds, slice := Seed("7"), "", 2.5, 10.0, Seconds(90), Seconds(0.5)
	count, users := 20, 4
	r.RandomSeed = &seed
	r.Models.Items = []Model{{Name: "org/m"}, {Name: "007"}}
	r.Endpoint.Path = &path
	r.Endpoint.Timeout = Forever
	r.Endpoint.Headers = Headers{{"X-B", "1, 2"}, {"X-A", "true"}}
	r.Endpoint.Extra = Extra{{"z", json.RawMessage(`{"b":[1,2.50,null,true],"a":"x"}`)}, {"a", json.RawMessage(`"007"`)}}
	r.Dataset().RandomSeed = &seed
	r.Dataset().Prompts.OSL = Normal(20, 1.5)
	r.Dataset().Prompts.SequenceDistribution = []SequencePair{{ISL: *Normal(1, 0), OSL: *Normal(2, 0), Probability: 100}}
	r.Dataset().PrefixPrompts = &PrefixPrompts{PoolSize: 3, Length: 10}
	r.Phases = []Phase{
		{Name: "warmup", Kind: KindWarmup, Type: PhaseConcurrency, ExcludeFromResults: true, Requests: &count, Concurrency: &users},
		{Name: "profiling", Kind: KindProfiling, Type: PhaseGamma, Rate: &rate, Smoothness: &smooth, Duration: &seconds, GracePeriod: &Forever,
			RateRamp: &Ramp{Duration: 5}, Cancellation: &Cancellation{Rate: 50, Delay: 0.1}},
	}
	r.Artifacts.Records, r.Artifacts.SliceDuration = nil, &slice
	r.SLOs = SLOs{{"request_latency", 250}, {"time_to_first_token", 50.5}}
	r.Sweep = &Sweep{Type: SweepGrid, IterationOrder: "repeated", Parameters: Axes{{"datasets.main.prompts.isl.mean", []any{100, 200}}, {"phases.profiling.rate", []any{1.0, 2.5}}}}
	return r
}

func mustYAML(t *testing.T, r *Run) string {
	t.Helper()
	out, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestWhatIsPrintedReadsBack(t *testing.T) {
	first := mustYAML(t, sample())
	r, err := readRun([]byte(first))
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if second := mustYAML(t, r); second != first {
		t.Errorf("printed\n%s\nread and printed again\n%s", first, second)
	}
	if got := string(r.Endpoint.Extra[0].Value); got != `{"b":[1,2.50,null,true],"a":"x"}` {
		t.Errorf("extra input z became %s", got)
	}
	if v := r.Sweep.Parameters[1].Values[0]; v != 1.0 {
		t.Errorf("the rate 1.0 became %v (%T)", v, v)
	}
	if !r.Endpoint.Timeout.Infinite() || r.Artifacts.Records != nil || *r.Endpoint.Path != "" || r.Models.Items[1].Name != "007" {
		t.Errorf("read back: %+v", r.Endpoint)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}

// FuzzParse reads anything as a configuration and as a rate series.
func FuzzParse(f *testing.F) {
	out, err := sample().YAML()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(out))
	f.Add("benchmark: {slos: {a: 1}, endpoint: {extra: {x: [1, {y: .inf}]}}}")
	f.Add("sweep: {parameters: {a.b: [1, 2.0, x]}}")
	f.Add(`[{"time_s":0,"qps":1}]`)
	f.Add(`{"points":[null]}`)
	f.Fuzz(func(t *testing.T, s string) {
		points, err := parseRateSeries([]byte(s))
		for i, p := range points {
			if err == nil && (p.QPS <= 0 || p.TimeS < 0 || i > 0 && p.TimeS <= points[i-1].TimeS) {
				t.Errorf("%s: point %d is %v", s, i, p)
			}
		}
		r, err := readRun([]byte(s))
		if err != nil {
			return
		}
		_ = r.Validate()
		first, err := r.YAML()
		if err != nil {
			return
		}
		again, err := readRun([]byte(strings.ReplaceAll(string(first), Redacted, "x")))
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if _, err := again.YAML(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSecretsAreMasked(t *testing.T) {
	r := sample()
	r.Endpoint.APIKey = "sk-1"
	r.Endpoint.URLs = []string{"https://user:word@host/v1", "http://plain"}
	r.Endpoint.Headers.Set("authorization", "Bearer t-2")
	r.Endpoint.Headers.Set("X-My-Api-Key", "t-3")
	r.Endpoint.Headers.Set("Cookie", "t-4")
	out := mustYAML(t, r)
	for _, secret := range []string{"sk-1", "user", "word@", "t-2", "t-3", "t-4"} {
		if strings.Contains(out, secret) {
			t.Errorf("%s is printed", secret)
		}
	}
	if !strings.Contains(out, "https://<redacted>@host/v1") || r.Endpoint.APIKey != "sk-1" || r.Endpoint.Headers[0].Value != "1, 2" {
		t.Error("masking changed the run, or the host is gone")
	}
	r.Endpoint.APIKey = Redacted
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "give the key with --api-key") {
		t.Errorf("a masked key passes: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "the file is empty",
		"a: 1":                  "line 1: unknown key a; known here are allow_invalid, benchmark, fail_if, fail_on_verdict, junit, machines, multi_run",
		"benchmark: {modls: x}": "line 1: unknown key benchmark.modls; did you mean models?",
		"benchmark:\n  endpoint:\n    timeout: x":             "line 3",
		"random_seed: 1\nrandom_seed: 2":                      "line 2, column 1: the key random_seed occurs twice",
		"[1]":                                                 "must be a mapping",
		"random_seed: 1\n---\nrandom_seed: 2":                 "more than one document",
		"benchmark: {datasets: [{prompts: {isl: {men: 1}}}]}": "men is not a key of a distribution",
		"a: &x [*x]":                                          "line 1: the alias *x is part of what it names",
		"a: !!binary aGk=":                                    "line 1: values of kind !!binary are not supported",
		"a: !x 1":                                             "line 1: values of kind !x are not supported",
		"a: {<<: 3}":                                          "line 1: << wants a mapping",
		"a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]": "the file holds more than 100000 values, with its aliases written out",
		"benchmark: {artifacts: {records: []}}":           "write false for none",
		"benchmark: {phases: [{concurrency: 1.5}]}":       "line 1: benchmark.phases[0].concurrency: 1.5 is not an integer",
		"random_seed: 2.5":                                "line 1: random_seed: 2.5 is not an integer",
		"benchmark: {datasets: [{entries: 1_0.5}]}":       "benchmark.datasets[0].entries: 1_0.5 is not an integer",
		"benchmark: {phases: [{concurrency: yes}]}":       "line 1: benchmark.phases[0].concurrency: yes is not an integer",
		"benchmark: {phases: [5]}":                        "line 1: benchmark.phases[0]: 5 is not a mapping",
		"benchmark: {endpoint: {streaming: maybe}}":       "line 1: benchmark.endpoint.streaming: maybe is not true or false",
		"benchmark: {phases: [{rate_series: {pats: 1}}]}": "line 1: unknown key rate_series.pats; did you mean path?",
		"benchmark: {dataset: {prompts: {sequence_distribution: [{isl: {mean: 9}, isl_stddev: 2, osl: 3, probability: 100}]}}}": "unknown key benchmark.datasets[0].prompts.sequence_distribution[0].isl_stddev",
		"benchmark: {datasets: [{entries: \"7x\"}]}": "line 1: benchmark.datasets[0].entries: 7x is not an integer",
		"benchmark: {endpoint: {urls: {a: b}}}":      "line 1: benchmark.endpoint.urls[0]: a mapping is not text",
	} {
		if _, err := readRun([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestSpreadOfWeightedPairs reads the standard deviations next to the lengths of a pair, as the Python tool does.
func TestSpreadOfWeightedPairs(t *testing.T) {
	r, err := readRun([]byte("benchmark: {model: m, endpoint: {url: h}, phases: {type: concurrency, requests: 1}, dataset: {prompts: {sequenceDistribution: [{isl: 9, islStddev: 2.5, osl: 3, osl_stddev: null, probability: 60}, " +
		"{isl: {value: 5}, osl: 4, oslStddev: 1, probability: 40}]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r.Dataset().Prompts.SequenceDistribution)
	want, _ := json.Marshal([]SequencePair{{ISL: *Normal(9, 2.5), OSL: *Fixed(3), Probability: 60}, {ISL: *Fixed(5), OSL: *Normal(4, 1), Probability: 40}})
	if err != nil || string(got) != string(want) {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
}

// TestNamesInLists requires the name of a dataset in a list, and a kind that agrees with the name of its phase.
func TestNamesInLists(t *testing.T) {
	const rest = "benchmark: {model: m, endpoint: {url: 'http://h'}, "
	const ends = "phases: {type: concurrency, requests: 1}}"
	for text, want := range map[string]string{
		rest + "datasets: [{type: synthetic}], " + ends:                                                                            "benchmark.datasets[0].name is missing or empty",
		rest + "datasets: [{type: synthetic, name: main}], " + ends:                                                                "",
		rest + "dataset: {type: synthetic}, " + ends:                                                                               "",
		rest + "dataset: {}, phases: [{name: warmup, kind: profiling, type: concurrency, requests: 1}]}":                           "profiling contradicts the name, which means kind warmup",
		rest + "dataset: {}, warmup: {type: concurrency, requests: 1}, profiling: {kind: warmup, type: concurrency, requests: 1}}": "warmup contradicts the name, which means kind profiling",
	} {
		r, err := readRun([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := r.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestFormatFloat(t *testing.T) {
	for f, want := range map[float64]string{
		10: "10.0", 2.5: "2.5", 0.1: "0.1", 0: "0.0", 1e16: "1e+16", 123456789012345680: "1.2345678901234568e+17", 1e15: "1000000000000000.0",
		0.0001: "0.0001", 0.00001: "1e-05", math.Inf(1): "inf", -3: "-3.0",
	} {
		if got := FormatFloat(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	if Seconds(1.5).Duration() != 1500*time.Millisecond || Forever.Duration() != math.MaxInt64 || !Forever.Infinite() || Seconds(1e300).Duration() != math.MaxInt64 {
		t.Error("seconds do not convert")
	}
}

func TestDefaultDir(t *testing.T) {
	five, rate, users := 5, 10.0, 3
	for _, c := range []struct {
		models []Model
		phase  Phase
		want   string
	}{
		{[]Model{{Name: "a/b"}}, Phase{Type: PhasePoisson, Rate: &rate, Concurrency: &five}, "a_b-openai-chat-concurrency5-request_rate10.0"},
		{[]Model{{Name: "a"}, {Name: "b"}}, Phase{Type: PhaseConcurrency, Concurrency: &five}, "a_multi-openai-chat-concurrency5"},
		{[]Model{{Name: "a"}}, Phase{Type: PhaseConstant, Rate: &rate}, "a-openai-chat-request_rate10.0"},
		{[]Model{{Name: "a"}}, Phase{Type: PhasePoisson, RateSeries: "known", Concurrency: &five}, "a-openai-chat-concurrency5-request_rate2.5"},
		{[]Model{{Name: "a"}}, Phase{Type: PhasePoisson, RateSeries: "a pipe"}, "a-openai-chat-request_rate_series"},
		{[]Model{{Name: "a"}}, Phase{Type: PhaseFixedSchedule, Concurrency: &five}, "a-openai-chat-fixed_schedule"},
		{[]Model{{Name: "a"}}, Phase{Type: PhaseUserCentric, Rate: &rate, Users: &users}, "a-openai-chat-user_centric-users3-qps10.0"},
		{[]Model{{Name: "a"}}, Phase{Type: PhaseConcurrency, PrefillConcurrency: &users}, "a-openai-chat-prefill_concurrency3"},
	} {
		b := Default().Benchmark
		c.phase.Kind = KindProfiling
		b.Models.Items, b.Phases = c.models, []Phase{c.phase}
		var series []RatePoint
		if c.phase.RateSeries == "known" {
			series = []RatePoint{{TimeS: 0, QPS: 2.5}, {TimeS: 9, QPS: 4}}
		}
		if got := DefaultDir(&b, series); got != "artifacts/"+c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestShortForms(t *testing.T) {
	r, err := readRun([]byte(`
schemaVersion: 2.0
randomSeed: 7
benchmark:
  model: [a, b]
  endpoint: {url: http://h, useServerTokenCount: true, headers: {X-aB: 1}, resetKvCache: true, server_profiler: false}
  dataset: {entries: 50, isl: 32, prompts: {osl: {mean: 4}}}
  phases:
    - {name: warmup, type: concurrency, requests: 3}
    - {name: low, kind: profiling, type: poisson, rate: 5, duration: 2m, rate_ramp: 10}
    - {name: high, kind: profiling, type: gamma, rate: 5, sessions: 6, seamless: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	d, low := r.Dataset(), &r.Phases[1]
	switch {
	case len(r.Models.Items) != 2 || r.Models.Items[1].Name != "b" || *r.RandomSeed != "7":
		t.Errorf("models %+v, seed %s", r.Models, *r.RandomSeed)
	case !r.Endpoint.UseServerTokenCount || r.Endpoint.Headers[0] != (Header{"X-aB", "1"}) || r.Endpoint.Timeout != 21600:
		t.Errorf("endpoint %+v", r.Endpoint)
	case d.Name != "default" || d.Type != DatasetSynthetic || d.TurnDelayRatio != 1 || *d.Prompts.ISL.Value != 32 || d.Prompts.ISL.Mean != nil || d.Prompts.BatchSize != 1:
		t.Errorf("dataset %+v, prompts %+v", d, d.Prompts)
	case r.Endpoint.ResetKVCache == nil || r.Endpoint.ServerProfiler != nil:
		t.Errorf("hooks %v, %v", r.Endpoint.ResetKVCache, r.Endpoint.ServerProfiler)
	case r.Phases[0].Kind != KindWarmup || !r.Phases[0].ExcludeFromResults || *r.Phases[0].Concurrency != 1:
		t.Errorf("warm-up %+v", r.Phases[0])
	case *low.Duration != 120 || *low.GracePeriod != 30 || low.RateRamp.Duration != 10 || *r.Phases[2].Smoothness != 1 || !r.Phases[2].Seamless:
		t.Errorf("phases %+v", r.Phases)
	}
}

// readRun reads a run from text, with the environment's defaults.
func readRun(text []byte) (*Run, error) {
	run, _, _, err := parse(text, DefaultEnvironment(), func(string) (string, bool) { return "", false })
	return run, err
}

// TestPlainTypes: the error of a value of another type names no type of Go.
func TestPlainTypes(t *testing.T) {
	var list []any
	var number int
	for text, want := range map[string]string{"5": "line 1: 5 is not a list", "{a: 1}": "line 1: a mapping is not a list"} {
		if err := plainYAMLError(yaml.Unmarshal([]byte(text), &list)); err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := plainYAMLError(yaml.Unmarshal([]byte("x"), &number)); err.Error() != "line 1: x is not an integer" {
		t.Error(err)
	}
}
