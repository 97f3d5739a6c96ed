//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestFilesAgree: what the files of one run say about it adds up, whatever was measured.
func TestFilesAgree(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name string
		mock string
		args []string
	}{
		{"chat, streamed", "", []string{"--streaming", "--request-count", "60"}},
		{"chat", "", []string{"--request-count", "60"}},
		{"completions, streamed", "&tokens-per-event=3", []string{"--streaming", "--endpoint-type", "completions", "--request-count", "60"}},
		{"completions", "", []string{"--endpoint-type", "completions", "--request-count", "60"}},
		{"errors", "&error-rate=0.3&error-kinds=http-500+sse+close+reset", []string{"--streaming", "--request-count", "80"}},
		{"turns and a warm-up", "&jitter=1&error-rate=0.1", []string{"--streaming", "--num-sessions", "15", "--session-turns-mean", "3", "--warmup-request-count", "9"}},
		{"a rate", "&reasoning=0.5", []string{"--streaming", "--request-rate", "300", "--request-count", "60"}},
		{"cut at the end", "&jitter=1", []string{"--streaming", "--benchmark-duration", "1", "--benchmark-grace-period", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "chat, streamed" && c.name != "errors" {
				testhome.Slow(t)
			}
			t.Parallel()
			args := []string{
				"--url", "mock://?ttft=3ms&itl=300us&tokens=10" + c.mock, "--isl", "8", "--num-dataset-entries", "15", "--export-level", "raw",
				"--export-http-trace", "--slice-duration", "0.1", "--goodput", "request_latency:6.5",
			}
			if !has(c.args, "--request-rate") {
				args = append(args, "--concurrency", "4")
			}
			p := program(t, append(args, c.args...)...)
			if got := p.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			a := &agreement{T: t, p: p, summary: p.summary()}
			for _, l := range p.records() {
				if l.Metadata.Phase == "profiling" && !l.Metadata.Cancelled {
					a.counted = append(a.counted, l)
				}
				if l.Metadata.Phase == "profiling" && l.Error == nil {
					a.valid = append(a.valid, l)
				}
			}
			if len(a.valid) == 0 {
				t.Fatal("no request succeeded")
			}
			a.averages()
			a.counts()
			a.rates()
			a.eachLine()
			a.plainJSON()
			a.slices()
			a.phases()
			for _, name := range footer(p.stdout.String()) {
				if _, err := os.Stat(name); err != nil {
					t.Errorf("the footer names %v", err)
				}
			}
		})
	}
}

// agreement compares the files of a run.
type agreement struct {
	*testing.T
	p              *process
	summary        summary
	counted, valid []line
}

// near compares with nine digits.
func (a *agreement) near(what string, got, want float64) {
	a.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		a.Errorf("%s: %v, want %v", what, got, want)
	}
}

// ofClient are metrics of the client itself and of its connections: failed requests count, too.
var ofClient = map[string]bool{"schedule_lag": true, "dispatch_lag": true, "read_delay_max": true,
	"tcp_smoothed_rtt": true, "tcp_congestion_window": true, "tcp_retransmits": true, "tcp_out_of_order": true}

// averages: a metric of records is the mean over the valid lines.
func (a *agreement) averages() {
	type mean struct {
		sum  float64
		n    int
		unit string
	}
	means := map[string]*mean{}
	for _, l := range a.counted {
		for tag, v := range l.Metrics {
			if l.Error != nil && !ofClient[tag] {
				continue
			}
			m := means[tag]
			if m == nil {
				m = &mean{unit: v.Unit}
				means[tag] = m
			}
			var list []float64
			if json.Unmarshal(v.Value, &list) != nil {
				list = []float64{l.number(a.T, tag)}
			}
			for _, f := range list {
				m.sum += f
				m.n++
			}
		}
	}
	compared := 0
	for tag, m := range means {
		var s struct {
			Avg, Count *float64
			Unit       string
		}
		if a.summary[tag] == nil {
			continue
		}
		a.summary.read(a.T, tag, &s)
		if s.Avg == nil || s.Count == nil { // a sum or a rate of the same name
			continue
		}
		compared++
		a.near(tag, *s.Avg, m.sum/float64(m.n))
		if int(*s.Count) != m.n || s.Unit != m.unit {
			a.Errorf("%s: %v values in %s, want %d in %s", tag, *s.Count, s.Unit, m.n, m.unit)
		}
	}
	if compared < 15 {
		a.Errorf("%d metrics are in both files only", compared)
	}
}

func (a *agreement) counts() {
	valid, failed := a.summary.avg(a.T, "request_count"), a.summary.avg(a.T, "error_request_count")
	a.near("request_count", valid, float64(len(a.valid)))
	a.near("request_count + error_request_count", valid+failed, float64(len(a.counted)))
	a.near("total_osl", a.summary.avg(a.T, "total_osl"), a.sum("output_sequence_length"))
	a.near("total_isl", a.summary.avg(a.T, "total_isl"), a.sum("input_sequence_length"))
	a.near("good_request_count", a.summary.avg(a.T, "good_request_count"), a.sum("good_request_count"))
	var groups []struct{ Count int }
	if a.summary["error_summary"] != nil {
		a.summary.read(a.T, "error_summary", &groups)
	}
	for _, g := range groups {
		failed -= float64(g.Count)
	}
	a.near("errors outside all groups", failed, 0)
	a.near("lines of the raw export", float64(len(readLines[json.RawMessage](a.T, filepath.Join(a.p.dir, "profile_export_raw.jsonl")))), float64(len(a.p.records())))
}

func (a *agreement) sum(tag string) (sum float64) {
	for _, l := range a.valid {
		sum += l.number(a.T, tag)
	}
	return sum
}

// rates: what is counted over the duration, from the first start to the last answer.
func (a *agreement) rates() {
	from, to := int64(math.MaxInt64), int64(0)
	for _, l := range a.valid {
		from = min(from, l.Metadata.Start)
		to = max(to, l.Metadata.Start+int64(math.Round(l.number(a.T, "request_latency")*1e6)))
	}
	seconds := a.summary.avg(a.T, "benchmark_duration")
	if d := seconds - float64(to-from)/1e9; math.Abs(d) > 1e-6 { // wall clock of starts
		a.Errorf("benchmark_duration %v, from the first start to the last answer %v", seconds, float64(to-from)/1e9)
	}
	a.near("requests", a.summary.avg(a.T, "request_throughput")*seconds, float64(len(a.valid)))
	a.near("output tokens", a.summary.avg(a.T, "output_token_throughput")*seconds, a.sum("output_sequence_length"))
	a.near("good requests", a.summary.avg(a.T, "goodput")*seconds, a.sum("good_request_count"))
}

// eachLine: the times of a request fit into each other.
func (a *agreement) eachLine() {
	for i := range a.valid {
		l := &a.valid[i]
		at := func(tag string) float64 { return l.number(a.T, tag) }
		latency := at("request_latency")
		var parts float64
		for _, tag := range []string{"blocked", "dns_lookup", "connecting", "sending", "waiting", "receiving"} {
			parts += at("http_req_" + tag)
		}
		a.near("parts of http_req_total", at("http_req_total"), parts)
		if l.Metrics["time_to_first_token"].Value == nil {
			continue
		}
		ttft := at("time_to_first_token")
		if first := l.Metrics["time_to_first_output_token"]; first.Value != nil {
			if o := at("time_to_first_output_token"); ttft > o || o > latency {
				a.Errorf("first token %v, first output token %v, latency %v", ttft, o, latency)
			}
		}
		if gaps := l.Metrics["inter_chunk_latency"]; gaps.Value != nil {
			var list []float64
			if err := json.Unmarshal(gaps.Value, &list); err != nil {
				a.Fatal(err)
			}
			sum := ttft
			for _, g := range list {
				if g < 0 {
					a.Errorf("a gap of %v ms", g)
				}
				sum += g
			}
			a.near("TTFT and the gaps", sum, latency)
		}
		if itl := l.Metrics["inter_token_latency"]; itl.Value != nil {
			a.near("ITL over the tokens", at("inter_token_latency")*(at("output_sequence_length")-1), latency-ttft)
		}
	}
}

// plainJSON: no file holds a number that JSON has not, nor a null outside of the texts of answers.
func (a *agreement) plainJSON() {
	for _, name := range tree(a.T, a.p.dir) {
		if ext := filepath.Ext(name); ext != ".json" && ext != ".jsonl" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.p.dir, name))
		if err != nil {
			a.Fatal(err)
		}
		in := json.NewDecoder(bytes.NewReader(text)) // fails at NaN and Infinity
		for in.More() {
			var v any
			if err := in.Decode(&v); err != nil {
				a.Fatalf("%s: %v", name, err)
			}
			if at := null(v); at != "" {
				a.Errorf("%s: null at %s", name, at)
			}
		}
	}
}

// null finds a null that has no business there.
func null(v any) string {
	switch v := v.(type) {
	case nil:
		return "/"
	case map[string]any:
		for key, x := range v {
			if at := null(x); at != "" && key != "response_text" {
				return "/" + key + strings.TrimSuffix(at, "/")
			}
		}
	case []any:
		for _, x := range v {
			if at := null(x); at != "" {
				return at
			}
		}
	}
	return ""
}

// slices: together they hold every request.
func (a *agreement) slices() {
	var slices []summary
	readSummary(a.T, filepath.Join(a.p.dir, "profile_export_aiperf_timeslices.json")).read(a.T, "timeslices", &slices)
	var n float64
	for _, s := range slices {
		n += s.avg(a.T, "request_count")
	}
	a.near("requests of all slices", n, float64(len(a.valid)))
}

// phases: the summaries of single phases hold what is of the phase, not what was measured once for the whole run.
func (a *agreement) phases() {
	names, err := filepath.Glob(filepath.Join(a.p.dir, "phases", "*", "profile_export_aiperf.json"))
	if err != nil {
		a.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			a.Fatal(err)
		}
		for _, key := range []string{`"telemetry_data"`, `"warmup_metrics"`, `"validity"`} {
			if bytes.Contains(data, []byte(key)) {
				a.Errorf("%s holds %s", name, key)
			}
		}
	}
}
