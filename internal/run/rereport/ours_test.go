package rereport

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/wire/endpoint"
)

// reportOf makes all files of a recorded run again.
func (g *golden) reportOf(t *testing.T, input string) (*metric.Run, artifact.Layout) {
	t.Helper()
	streaming := g.has("--streaming")
	o := g.options(g.endpoint(t), false)
	runs, err := Find(input)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Input: runs[0], Dir: filepath.Join(t.TempDir(), "out"), Endpoint: g.endpoint(t), Streaming: &streaming, Version: "test",
		ServerTokens: &o.ServerTokens, PerChunkUsage: &o.PerChunkUsage, Goodput: &o.Goodput,
	}
	made, err := Report(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return made.Run, made.Layout
}

// TestOurs makes every report again by our own rules. What differs from 0.13 is named here, everything else must be equal.
func TestOurs(t *testing.T) {
	for _, g := range cases(t) {
		t.Run(g.name, func(t *testing.T) {
			raw := g.raw(t)
			if raw == "" || g.name == "midstream" {
				return
			}
			rows, _ := g.reduced(t, raw, false)
			unmeasuredITL := 0
			for _, want := range g.records {
				_, gaps := want.Metrics["inter_chunk_latency"]
				_, itl := want.Metrics["inter_token_latency"]
				one := itl && !gaps
				if one {
					unmeasuredITL++
				}
				compareRow(t, want, rows[want.Metadata.RequestID], func(tag string) bool {
					if _, ok := rows[want.Metadata.RequestID].Value(tag); ok && one && tag == "inter_token_latency" {
						t.Errorf("%s: an ITL that was not measured", want.Metadata.RequestID)
					}
					return one && (tag == "inter_token_latency" || tag == "output_token_throughput_per_user")
				})
			}
			run, layout := g.reportOf(t, raw)
			if got := run.Profiling.OneMessage; got != int64(unmeasuredITL) {
				t.Errorf("%d answers in one message, not %d", got, unmeasuredITL)
			}
			if g.summary == nil {
				if !run.AllFailed() {
					t.Error("0.13 wrote no summary, yet not all requests failed")
				}
				return
			}
			seconds := run.Profiling.Value("benchmark_duration", metric.Avg)
			for rate, total := range map[string]string{"request_throughput": "request_count", "output_token_throughput": "total_osl", "input_token_throughput": "total_isl", "goodput": "good_request_count"} {
				r, ok := run.Profiling.Get(rate)
				if n := run.Profiling.Value(total, metric.Avg); ok && !near(r.Values[metric.Avg]*seconds, n) {
					t.Errorf("%s · %v s = %v, not %v", rate, seconds, r.Values[metric.Avg]*seconds, n)
				}
			}
			rates := rateTags()
			compareResults(t, g.summary, run.Profiling, func(tag string) bool {
				m, _ := metric.Lookup(tag)
				return rates[tag] || isCurve(tag) || // other divisor; other window and integer instants
					tag == "effective_latency" || tag == "credit_to_start_latency" || tag == "benchmark_duration" || // steps of 256 ns there
					unmeasuredITL > 0 && m != nil && (strings.Contains(tag, "inter_token_latency") || tag == "output_token_throughput_per_user")
			})
			var was struct{ Avg float64 }
			if err := json.Unmarshal(g.summary["benchmark_duration"], &was); err != nil || math.Abs(was.Avg-seconds) > 600e-9 {
				t.Errorf("benchmark_duration %v, not %v (%v)", seconds, was.Avg, err)
			}
			g.compareCSV(t, layout)
			g.compareConsole(t, run)
		})
	}
}

// compareCSV: the same rows in the same order, less what 0.13 alone could measure, plus ours.
func (g *golden) compareCSV(t *testing.T, layout artifact.Layout) {
	t.Helper()
	data, err := os.ReadFile(layout.SummaryCSV())
	if err != nil {
		t.Fatal(err)
	}
	names := func(text string) (out []string) {
		text, _, _ = strings.Cut(text, "\r\n\r\n\r\n") // the GPU section
		text = strings.TrimSuffix(text, "\r\n")
		for line := range strings.SplitSeq(text, "\r\n") {
			name, _, _ := strings.Cut(line, ",")
			if !strings.HasPrefix(name, "HTTP ") {
				out = append(out, name)
			}
		}
		return out
	}
	want := names(string(unzip(t, filepath.Join("testdata", g.name, "summary.csv.gz"))))
	if g.name == "one_message" {
		want = slices.DeleteFunc(want, func(s string) bool {
			return strings.HasPrefix(s, "Inter Token Latency") || strings.HasPrefix(s, "Output Token Throughput Per User")
		})
	}
	if got := names(string(data)); !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("CSV row %d is %q, not %q", i, got[i], want[i])
				return
			}
		}
		t.Errorf("%d CSV rows, not %d", len(got), len(want))
	}
}

// compareConsole: the titles of the recorded tables.
func (g *golden) compareConsole(t *testing.T, run *metric.Run) {
	t.Helper()
	titles := func(text string) (out []string) {
		lines := strings.Split(text, "\n")
		for i := range lines[1:] {
			if _, title, ok := strings.Cut(lines[i], " | "); ok && strings.HasPrefix(lines[i+1], "┏") && !strings.HasPrefix(title, "HTTP") {
				out = append(out, strings.TrimSpace(title))
			}
		}
		return out
	}
	want := titles(string(unzip(t, filepath.Join("testdata", g.name, "console.txt.gz"))))
	if g.name == "ctrl_c" { // 0.13 loses the groups of the curves there
		want = append([]string{"LLM Metrics: Effective", "LLM Metrics: Active"}, want...)
	}
	if g.name != "ctrl_c" && g.name != "one_message" { // another grouping; a time between tokens that 0.13 takes for 0
		g.compareTables(t, run)
	}
	if got := titles(string(console.Text(run, console.ExportWidth, nil))); !slices.Equal(got, want) {
		t.Errorf("tables %v, not %v", got, want)
	}
}

// TestSlices compares the time slices with those of 0.13, by its rules.
func TestSlices(t *testing.T) {
	compared := 0
	for _, g := range cases(t) {
		data := unzip(t, filepath.Join("testdata", g.name, "slices.json.gz"))
		raw := g.raw(t)
		if data == nil || raw == "" {
			continue
		}
		var want struct {
			Timeslices []map[string]json.RawMessage
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		seconds, err := strconv.ParseFloat(g.value("--slice-duration"), 64)
		if err != nil {
			t.Fatal(err)
		}
		_, p := g.reduced(t, raw, true)
		got := p.Profiling().Slices(seconds)
		if len(got) != len(want.Timeslices) {
			t.Errorf("%s: %d slices, not %d", g.name, len(got), len(want.Timeslices))
			continue
		}
		for i, w := range want.Timeslices {
			_, incomplete := w["is_complete"]
			var from, to int64
			if json.Unmarshal(w["start_ns"], &from) != nil || json.Unmarshal(w["end_ns"], &to) != nil || from != got[i].Window.From || to != got[i].Window.To || incomplete == got[i].Complete {
				t.Errorf("%s slice %d: %+v, not %d to %d", g.name, i, got[i].Window, from, to)
			}
			compared += compareResults(t, w, got[i].Summary, nothing)
		}
	}
	if compared < 500 {
		t.Errorf("only %d values compared", compared)
	}
}

// TestErrorInStream: an error object inside a 200 stream fails the request; 0.13 counts it as a success.
func TestErrorInStream(t *testing.T) {
	for _, g := range cases(t) {
		if g.name != "midstream" {
			continue
		}
		run, _ := g.reportOf(t, g.raw(t))
		if run.Profiling.Valid != 0 || run.Profiling.Failed != 6 || len(run.Profiling.Errors) != 1 || run.Profiling.Errors[0].Error.Message == "" {
			t.Errorf("%+v", run.Profiling.Errors)
		}
		return
	}
	t.Error("no such recording")
}

// TestRankingsInput: in our own exports, rankings have an input length and embeddings a usage, which 0.13 does not read.
func TestRankingsInput(t *testing.T) {
	for _, c := range []struct{ name, payload, answer string }{
		{"nim_rankings", `{"query":{"text":"a b"},"passages":[{"text":"c"}]}`, `{"rankings":[{"index":0,"logit":1.5}],"usage":{"prompt_tokens":3}}`},
		{"embeddings", `{"input":["a b c"]}`, `{"data":[{"object":"embedding","embedding":[0.1]}],"usage":{"prompt_tokens":3}}`},
	} {
		e, _, err := endpoint.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		codec, err := e.Open(endpoint.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		rec := record.Record{Start: 1, End: 9, Payload: record.Plain([]byte(c.payload)), Messages: []record.Message{{At: 5, Body: true, Raw: []byte(c.answer)}}}
		if reply, failure := decoder(e, codec, false)(&rec, endpoint.DecodeOptions{}); failure != nil || reply.Usage == nil || len(reply.InputTexts) == 0 {
			t.Errorf("%s: %+v %v", c.name, reply, failure)
		}
		if reply, failure := decoder(e, codec, true)(&rec, endpoint.DecodeOptions{}); failure != nil || reply.Usage != nil {
			t.Errorf("%s of the Python tool: %+v %v", c.name, reply, failure)
		}
	}
}

// TestSameDirectory: a report does not overwrite the run that it is made from.
func TestSameDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "profile_export_raw.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{dir, filepath.Join(dir, "profile_export_raw.jsonl")} {
		runs, err := Find(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Report(t.Context(), Options{Input: runs[0], Dir: dir + "/."}); err == nil || !strings.Contains(err.Error(), "overwritten") {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, says := range map[string]string{filepath.Join(dir, "missing"): "does not exist", t.TempDir(): "has no raw export"} {
		if _, err := Find(in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", in, err, says)
		}
	}
}
