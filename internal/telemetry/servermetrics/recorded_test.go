package servermetrics

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/telemetry/exposition"
)

// recording is a run of the Python tool against a server: its pages and the files that were made of them.
type recording struct {
	Scrapes []struct {
		At          int64 `json:"t_ns"`
		Port        int
		Path        string
		Status      *int
		Text        string
		ContentType string `json:"content_type"`
	}
	Lines   []json.RawMessage
	Summary struct {
		Summary struct {
			Phases map[string]struct {
				Start int64 `json:"start_ns"`
				End   int64 `json:"end_ns"`
			} `json:"phase_time_ranges"`
		}
		Metrics map[string]struct {
			Type, Description, Unit string
			Series                  []struct {
				URL     string `json:"endpoint_url"`
				Labels  map[string]string
				Stats   map[string]float64
				Buckets map[string]int64
			}
		}
	}
	CSV string
}

// replay feeds a store the recorded pages at the instants at which they were served.
func replay(t *testing.T, in *recording, skip func(port int) bool) (*Store, []string) {
	t.Helper()
	var lines []string
	store := NewStore(func(line []byte) { lines = append(lines, string(line)) })
	last := map[string]string{}
	for _, s := range in.Scrapes {
		if s.Status == nil || *s.Status != 200 || strings.Contains(s.ContentType, "json") || skip(s.Port) {
			continue
		}
		page := exposition.Parse([]byte(s.Text))
		if !page.IsText() {
			continue
		}
		url := "http://{host}:" + itoa(s.Port) + s.Path
		store.Add(url, page, Fetch{Sent: s.At - 2, FirstByte: s.At, Done: s.At + 1}, last[url] == s.Text)
		last[url] = s.Text
	}
	return store, lines
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// near is how far a figure may lie from the recorded one: rates hang on the instants of the recording's own clock, estimates are to a hundredth.
func near(key string) float64 {
	if strings.Contains(key, "rate") || strings.HasSuffix(key, "_estimate") {
		return 1e-2
	}
	return 1e-9
}

// reset are the metrics of the recording that begin anew: there the Python tool tells the last value less the first, or 0.
var reset = map[string]bool{"sglang:prompt_tokens": true, "sglang:time_to_first_token_seconds": true}

func TestRecordedRuns(t *testing.T) {
	for _, file := range []string{"srv_vllm", "srv_many"} {
		t.Run(file, func(t *testing.T) {
			var in recording
			testrecording.JSON(t, "../testdata/"+file+".json.gz", &in)
			// The Python tool gives the whole page up for one family of type info, which ours reads.
			store, lines := replay(t, &in, func(port int) bool { return port == 22623 })
			p := in.Summary.Summary.Phases["profiling"]
			r := store.Results(Window{p.Start, p.End}, 0)
			if len(r.Metrics) != len(in.Summary.Metrics) {
				t.Errorf("%d metrics, want %d", len(r.Metrics), len(in.Summary.Metrics))
			}
			for _, m := range r.Metrics {
				want, ok := in.Summary.Metrics[m.Name]
				if !ok || string(m.Type) != want.Type || m.Help != want.Description || m.Unit != want.Unit || len(m.Series) != len(want.Series) {
					t.Errorf("%s: %s %q %q, want %+v", m.Name, m.Type, m.Help, m.Unit, want)
					continue
				}
				for i, s := range m.Series {
					w := want.Series[i]
					if s.URL != w.URL || len(s.Labels) != len(w.Labels) {
						t.Errorf("%s: series %d is of %s %v", m.Name, i, s.URL, s.Labels)
					}
					if reset[m.Name] {
						continue
					}
					if len(s.Stats) != len(w.Stats) || len(s.Buckets) != len(w.Buckets) {
						t.Errorf("%s: %v, want %v", m.Name, s.Stats, w.Stats)
					}
					for _, one := range s.Stats {
						v, ok := w.Stats[one.Key]
						if !ok || math.Abs(one.Value-v) > near(one.Key)*math.Abs(v)+1e-12 {
							t.Errorf("%s %v %s: %v, want %v", m.Name, s.Labels, one.Key, one.Value, v)
						}
					}
					for _, b := range s.Buckets {
						if w.Buckets[b.Le] != b.N {
							t.Errorf("%s %s: %d, want %d", m.Name, b.Le, b.N, w.Buckets[b.Le])
						}
					}
				}
			}
			checkLines(t, lines, in.Lines)
			checkCSV(t, r, in.CSV)
		})
	}
}

// checkLines compares what lines tell of metrics.
func checkLines(t *testing.T, got []string, want []json.RawMessage) {
	t.Helper()
	metrics := func(line string) string {
		var one struct {
			URL     string `json:"endpoint_url"`
			Metrics json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return one.URL + string(one.Metrics)
	}
	var a, b []string
	for _, line := range got {
		a = append(a, metrics(line))
	}
	for _, line := range want {
		b = append(b, metrics(string(line)))
	}
	slices.Sort(a)
	slices.Sort(b)
	if len(b) == 0 || !slices.Equal(a, b) {
		t.Errorf("%d lines, want %d", len(a), len(b))
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s\nwant\n%s", a[i], b[i])
			}
		}
	}
}

// checkCSV compares everything but the figures, which the JSON has.
func checkCSV(t *testing.T, r *Results, want string) {
	t.Helper()
	text, err := r.CSV(&Head{Version: "v", BenchmarkID: "id"})
	if err != nil {
		t.Fatal(err)
	}
	names := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			cells := strings.SplitN(strings.TrimSpace(line), ",", 5)
			switch {
			case strings.HasPrefix(line, "#"):
				key, _, _ := strings.Cut(line, ":")
				out = append(out, key)
			case strings.HasPrefix(line, "Endpoint"):
				out = append(out, strings.TrimSpace(line))
			default:
				out = append(out, strings.Join(cells[:min(4, len(cells))], ","))
			}
		}
		return out
	}
	a, b := names(string(text)), names(want)
	if !slices.Equal(a, b) {
		t.Errorf("%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}
