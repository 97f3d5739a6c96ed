package rereport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	recording "aiperf/internal/base/testrecording"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
)

// golden is one recorded run of the Python tool 0.13.
type golden struct {
	name    string
	cmd     string
	args    []string
	records []goldenRecord
	summary map[string]json.RawMessage // nil = the tool wrote none
	window  metric.Window              // the profiling phase, zero = not known
}

type goldenRecord struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Phase     string `json:"benchmark_phase"`
		Start     int64  `json:"request_start_ns"`
		End       int64  `json:"request_end_ns"`
		Issued    int64  `json:"credit_issued_ns"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	} `json:"metrics"`
	Error *struct {
		Code    int
		Type    string
		Message string
	} `json:"error"`
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	return recording.Read(t, path)
}

// cases reads all recorded runs.
func cases(t *testing.T) []*golden {
	t.Helper()
	var windows map[string][]struct {
		Phase string `json:"phase"`
		From  int64  `json:"start_ns"`
		To    int64  `json:"requests_end_ns"`
	}
	data, err := os.ReadFile("testdata/windows.json")
	if err == nil {
		err = json.Unmarshal(data, &windows)
	}
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("testdata/*/cmd.txt")
	if err != nil || len(dirs) < 28 {
		t.Fatalf("%d recorded runs, %v", len(dirs), err)
	}
	var list []*golden
	for _, path := range dirs {
		dir := filepath.Dir(path)
		g := &golden{name: filepath.Base(dir)}
		cmd, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		g.cmd = string(cmd)
		g.args = strings.Fields(g.cmd)
		lines := bufio.NewScanner(bytes.NewReader(unzip(t, dir+"/records.jsonl.gz")))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var r goldenRecord
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			g.records = append(g.records, r)
		}
		if data := unzip(t, dir+"/summary.json.gz"); data != nil {
			if err := json.Unmarshal(data, &g.summary); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range windows[g.name] {
			if w.Phase == "profiling" {
				g.window = metric.Window{From: w.From, To: w.To}
			}
		}
		list = append(list, g)
	}
	return list
}

func (g *golden) has(flag string) bool { return slices.Contains(g.args, flag) }
func (g *golden) value(flag string) string {
	if i := slices.Index(g.args, flag); i >= 0 {
		return strings.Trim(g.args[i+1], `'"`)
	}
	return ""
}

// quoted is the value of a flag that may hold blanks.
func (g *golden) quoted(flag string) string {
	_, rest, ok := strings.Cut(g.cmd, flag+" ")
	if !ok {
		return ""
	}
	if rest[0] == '\'' || rest[0] == '"' {
		v, _, _ := strings.Cut(rest[1:], rest[:1])
		return v
	}
	return strings.Fields(rest)[0]
}

// raw unpacks the raw export into a new directory; "" = the case has none.
func (g *golden) raw(t *testing.T) string {
	data := unzip(t, filepath.Join("testdata", g.name, "raw.jsonl.gz"))
	if data == nil {
		return ""
	}
	path := filepath.Join(t.TempDir(), "profile_export_raw.jsonl")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (g *golden) endpoint(t *testing.T) *endpoint.Endpoint {
	e, _, err := endpoint.Lookup(g.value("--endpoint-type"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func count(t *testing.T) func(string) int {
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return tok.Count
}

func (g *golden) options(e *endpoint.Endpoint, as013 bool) metric.Options {
	return metric.Options{
		Streaming: g.has("--streaming"), ProducesTokens: e.ProducesTokens, TokenizesInput: e.TokenizesInput, ImageInput: e.Images,
		ServerTokens: g.has("--use-server-token-count"), PerChunkUsage: g.has("--per-chunk-usage"), Goodput: g.quoted("--goodput"), As013: as013, EmptyOutput: true,
	}
}

// reduced runs a raw export through the pipeline.
func (g *golden) reduced(t *testing.T, raw string, as013 bool) (rows map[string]*metric.Row, p *pipeline.Pipeline) {
	t.Helper()
	e := g.endpoint(t)
	set, err := metric.NewSelection(g.options(e, as013))
	if err != nil {
		t.Fatal(err)
	}
	codec, err := e.Codec(endpoint.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	countText := count(t)
	rows = map[string]*metric.Row{}
	p = pipeline.New(pipeline.Options{
		Metrics: set, Count: func(_, text string) (int, error) { return countText(text), nil },
		Decode: func(rec *record.Record) (*record.Reply, *record.Error) {
			return decoder(e, codec, true)(rec, endpoint.DecodeOptions{})
		},
		Observers: []pipeline.Observer{rowsByID(rows)},
	})
	if err := artifact.ReadRaw(raw, func(rec *record.Record) error { p.Feed(rec); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return rows, p
}

// rowsByID is the observer that keeps every row under the id of its request.
type rowsByID map[string]*metric.Row

// Observe implements pipeline.Observer.
func (m rowsByID) Observe(row *metric.Row) { m[row.Meta.RequestID] = row }

// unmeasured are metrics of socket instants, which a raw export of 0.13 does not hold.
func unmeasured(tag string) bool {
	return strings.HasPrefix(tag, "http_req_") || tag == "stream_setup_latency"
}

// near compares to 1e-9 relative.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12 || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

// compareRow compares a row with the line that 0.13 wrote.
func compareRow(t *testing.T, want goldenRecord, row *metric.Row, skip func(tag string) bool) {
	t.Helper()
	got := map[string][]float64{}
	row.Each(func(m *metric.Metric, v float64, list []float64) {
		if list == nil {
			list = []float64{v}
		}
		for _, x := range list {
			got[m.Tag] = append(got[m.Tag], x/m.Factor())
		}
	})
	for tag, w := range want.Metrics {
		if unmeasured(tag) || skip(tag) {
			continue
		}
		var values []float64
		if json.Unmarshal(w.Value, &values) != nil {
			values = make([]float64, 1)
			if err := json.Unmarshal(w.Value, &values[0]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.EqualFunc(got[tag], values, near) {
			t.Errorf("%s %s: %v, not %v", want.Metadata.RequestID, tag, got[tag], values)
		}
		if m, ok := metric.Lookup(tag); !ok || m.Display != w.Unit {
			t.Errorf("%s: unit is not %s", tag, w.Unit)
		}
	}
	for tag := range got {
		if _, ok := want.Metrics[tag]; !ok && !skip(tag) {
			t.Errorf("%s: %s is extra", want.Metadata.RequestID, tag)
		}
	}
	if (row.Err != nil) != (want.Error != nil) {
		t.Errorf("%s: error %v, not %v", want.Metadata.RequestID, row.Err, want.Error)
	} else if row.Err != nil && (row.Err.Type != want.Error.Type || row.Err.Code != want.Error.Code) {
		t.Errorf("%s: error %v, not %v", want.Metadata.RequestID, row.Err, want.Error)
	}
}

// compareResults compares a summary, or a part of one, with the metric objects that 0.13 wrote.
func compareResults(t *testing.T, want map[string]json.RawMessage, got *metric.Summary, skip func(tag string) bool) (compared int) {
	t.Helper()
	seen := map[string]bool{}
	for tag, raw := range want {
		var stats map[string]any
		if json.Unmarshal(raw, &stats) != nil || stats["unit"] == nil {
			continue
		}
		seen[tag] = true
		if unmeasured(tag) || skip(tag) {
			continue
		}
		r, ok := got.Get(tag)
		if !ok {
			t.Errorf("%s is missing", tag)
			continue
		}
		if r.Display != stats["unit"] {
			t.Errorf("%s: unit %s, not %s", tag, r.Display, stats["unit"])
		}
		for s := metric.Avg; s < metric.Stats; s++ {
			w, ok := stats[s.String()].(float64)
			switch {
			case ok != r.Has(s):
				t.Errorf("%s %s: exists %v, not %v", tag, s, r.Has(s), ok)
			case ok && !near(r.Values[s], w):
				t.Errorf("%s %s: %v, not %v", tag, s, r.Values[s], w)
			case ok:
				compared++
			}
		}
	}
	for _, r := range got.Shown() {
		if !seen[r.Tag] && !skip(r.Tag) {
			t.Errorf("%s is extra", r.Tag)
		}
	}
	return compared
}

func nothing(string) bool { return false }

// TestAs013 computes every recorded run as 0.13 does and must get its numbers, all of them.
func TestAs013(t *testing.T) {
	runs, values := 0, 0
	for _, g := range cases(t) {
		t.Run(g.name, func(t *testing.T) {
			raw := g.raw(t)
			if raw == "" || g.name == "midstream" { // midstream: TestErrorInStream
				return
			}
			runs++
			rows, p := g.reduced(t, raw, true)
			if len(rows) != len(g.records) {
				t.Errorf("%d requests, not %d", len(rows), len(g.records))
			}
			for _, want := range g.records {
				row := rows[want.Metadata.RequestID]
				if row == nil {
					t.Fatalf("%s is missing", want.Metadata.RequestID)
				}
				if row.Start != want.Metadata.Start || row.End != want.Metadata.End || row.Issued != want.Metadata.Issued {
					t.Errorf("%s: instants differ", want.Metadata.RequestID)
				}
				compareRow(t, want, row, nothing)
			}
			if g.summary == nil {
				return
			}
			s := p.Profiling().Summary(g.window)
			skip := nothing
			if g.window.To == 0 { // after Ctrl-C the phase has no bounds: rates divide by the duration, curves have another window
				rated := rateTags()
				skip = func(tag string) bool { return isCurve(tag) || rated[tag] }
			}
			n := compareResults(t, g.summary, s, skip)
			values += n
			if n < 50 {
				t.Errorf("only %d values compared", n)
			}
		})
	}
	t.Logf("%d runs, %d values", runs, values)
	if runs < 24 || values < 9000 {
		t.Errorf("%d runs and %d values are fewer than recorded", runs, values)
	}
}

func rateTags() map[string]bool {
	return map[string]bool{"request_throughput": true, "output_token_throughput": true, "input_token_throughput": true, "total_token_throughput": true, "goodput": true}
}

func isCurve(tag string) bool {
	m, ok := metric.Lookup(tag)
	return ok && m.Kind == metric.Sweep
}
