package gpu

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/exposition"
)

// recording is a run of the Python tool against exporters: what they answered and what it made of that.
type recording struct {
	Scrapes []struct {
		Port   int
		Path   string
		Status *int
		Text   string
	}
	Lines []json.RawMessage
	Data  struct {
		Summary   struct{ Start, End string } `json:"-"`
		Endpoints map[string]struct {
			GPUs map[string]struct {
				Metrics map[string]map[string]any
			}
		}
	} `json:"telemetry_data"`
}

// TestRecordedRun: lines and figures are those of the recorded run, from the same pages at the same instants.
func TestRecordedRun(t *testing.T) {
	var in recording
	testrecording.JSON(t, "../testdata/gpu_two.json.gz", &in)
	var times struct {
		Data struct {
			Summary struct {
				Start string `json:"start_time"`
				End   string `json:"end_time"`
			}
		} `json:"telemetry_data"`
	}
	testrecording.JSON(t, "../testdata/gpu_two.json.gz", &times)
	fields := NewFields("nvidia", nil)
	series := NewSeries(fields)
	type key struct {
		url string
		at  int64
	}
	var instants []key // of the pages, in the order of the file
	lines := map[key][]string{}
	for _, l := range in.Lines {
		var one struct {
			URL string `json:"telemetry_source_url"`
			At  int64  `json:"timestamp_ns"`
		}
		if err := json.Unmarshal(l, &one); err != nil {
			t.Fatal(err)
		}
		k := key{one.URL, one.At}
		if len(lines[k]) == 0 {
			instants = append(instants, k)
		}
		lines[k] = append(lines[k], string(l))
	}
	checked := 0
	for _, k := range instants {
		made := ""
		for _, s := range in.Scrapes { // the page that gives these lines
			if s.Status == nil || *s.Status != 200 || !strings.Contains(k.url, telemetryPort(s.Port)) {
				continue
			}
			samples := fields.Page(exposition.Parse([]byte(s.Text)), k.at, k.url)
			made = ""
			for i := range samples {
				made += string(fields.AppendLine(nil, &samples[i], k.url))
			}
			if made == strings.Join(lines[k], "\n")+"\n" {
				for i := range samples {
					series.Add(&samples[i])
				}
				checked++
				break
			}
		}
		if made != strings.Join(lines[k], "\n")+"\n" {
			t.Fatalf("no page gives %s", lines[k])
		}
	}
	if checked != len(instants) || checked < 10 {
		t.Fatalf("%d of %d pages", checked, len(instants))
	}
	// The recording's clock is of the zone that its machine was in: the lines' is UTC.
	wall := func(text string) int64 {
		at, err := time.Parse("2006-01-02T15:04:05.999999", text)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixNano()
	}
	w := metric.Window{From: wall(times.Data.Summary.Start), To: wall(times.Data.Summary.End)}
	figures := 0
	for name, e := range in.Data.Endpoints {
		for _, g := range series.Figures("http://"+name+"/metrics", w) {
			want := e.GPUs["gpu_"+string(rune('0'+g.Index))].Metrics
			if len(g.Metrics) != len(want) {
				t.Errorf("%s GPU %d: %d figures, want %d", name, g.Index, len(g.Metrics), len(want))
			}
			for _, m := range g.Metrics {
				for s := metric.Avg; s < metric.Stats; s++ {
					v, there := want[m.Tag][s.String()].(float64)
					if there != m.Has(s) || there && math.Abs(v-m.Values[s]) > 1e-9*math.Abs(v) {
						t.Errorf("%s GPU %d %s.%s: %v, want %v", name, g.Index, m.Tag, s, m.Values[s], want[m.Tag][s.String()])
					}
					figures++
				}
				if m.Unit != want[m.Tag]["unit"] {
					t.Errorf("%s: unit %q", m.Tag, m.Unit)
				}
			}
		}
	}
	if figures < 300 {
		t.Errorf("%d figures", figures)
	}
}

func telemetryPort(port int) string {
	b, _ := json.Marshal(port) // a number is always spelled
	return ":" + string(b) + "/"
}

// TestCounters: a counter's figure is what it grew by since the last reading before the window, or the first within it, and never negative.
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		name   string
		values map[int64]float64 // mJ by instant; the window is 10 to 20
		want   float64           // MJ
	}{
		{"reference", map[int64]float64{5: 1_000_000, 9: 1_500_000, 12: 2_000_000, 20: 4_000_000}, 0.0025},
		{"no reference", map[int64]float64{12: 2_000_000, 20: 4_000_000}, 0.002},
		{"reset", map[int64]float64{9: 5_000_000, 12: 6_000_000, 20: 1_000_000}, 0},
		{"after the window", map[int64]float64{9: 1_000_000, 20: 2_000_000, 21: 9_000_000}, 0.001},
	} {
		fields := NewFields("nvidia", nil)
		series := NewSeries(fields)
		for at := range int64(30) {
			if v, ok := c.values[at]; ok {
				s := Sample{At: at, Source: "u", Values: fields.none()}
				s.Values[fields.byTag["nvidia_energy_consumption"]] = v * 1e-9
				series.Add(&s)
			}
		}
		gpus := series.Figures("u", metric.Window{From: 10, To: 20})
		if len(gpus) != 1 || len(gpus[0].Metrics) != 1 || math.Abs(gpus[0].Metrics[0].Values[metric.Avg]-c.want) > 1e-15 || gpus[0].Metrics[0].Has(metric.Min) {
			t.Errorf("%s: %+v", c.name, gpus)
		}
	}
}

func TestCustomFields(t *testing.T) {
	text := "# comment\n\nDCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)\nDCGM_FI_DEV_GPU_TEMP, gauge, known (in C)\nbroken\n" +
		"OTHER, gauge, x\nDCGM_FI_DEV_X, what, x\nDCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, ratio, of (in %) it\nDCGM_FI_DEV_FB_FREE, counter,\n"
	fields, warnings := ParseCustom("f.csv", text)
	want := []Field{
		{"DCGM_FI_DEV_SM_CLOCK", "nvidia_sm_clock", "SM Clock Frequency", "MHz", 1, false},
		{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "nvidia_pipe_tensor_active", "Ratio, Of", "%", 1, false},
		{"DCGM_FI_DEV_FB_FREE", "nvidia_fb_free", "Nvidia Fb Free", "count", 1, false},
	}
	if len(fields) != len(want) {
		t.Fatalf("%+v", fields)
	}
	for i := range want {
		if fields[i] != want[i] {
			t.Errorf("%+v, want %+v", fields[i], want[i])
		}
	}
	if len(warnings) != 3 || !strings.HasPrefix(warnings[0], "f.csv:5: ") || !strings.HasPrefix(warnings[1], "f.csv:6: ") || !strings.HasPrefix(warnings[2], "f.csv:7: ") {
		t.Errorf("%q", warnings)
	}
}

func FuzzCustomFields(f *testing.F) {
	f.Add("DCGM_FI_DEV_SM_CLOCK, gauge, SM clock (in MHz)\n")
	f.Add("DCGM_FI_\xff, gauge, (in \n#\n,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		fields, warnings := ParseCustom("f", text)
		if len(fields)+len(warnings) > strings.Count(text, "\n")+1 {
			t.Fatalf("%d fields and %d warnings of %q", len(fields), len(warnings), text)
		}
		for _, one := range fields {
			if one.Unit == "" || one.Name == "" || !strings.HasPrefix(one.Tag, "nvidia_") {
				t.Fatalf("%+v", one)
			}
		}
	})
}

func TestNamesOfSources(t *testing.T) {
	for in, want := range map[string]string{
		"host:9400": "http://host:9400/metrics", " http://h:1/metrics/ ": "http://h:1/metrics", "https://h/v1": "https://h/v1/metrics",
	} {
		if got := telemetry.URL(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	if got := telemetry.Name("http://user:secret@h:1/x/metrics"); got != "h:1/x" {
		t.Error(got)
	}
}

// TestGPUsOfPods: where an exporter says which pod uses a GPU, only the GPUs that the server's pods use, or have used, count.
func TestGPUsOfPods(t *testing.T) {
	sample := func(index int, pod string) Sample {
		return Sample{Device: Device{Index: index, Namespace: map[bool]string{true: "prod"}[pod != ""], PodName: pod}}
	}
	pods := []string{"prod/vllm-0"}
	s := &source{}
	for _, one := range []struct {
		pods []string
		page []Sample
		want int
	}{
		{nil, []Sample{sample(0, "vllm-0"), sample(1, "other")}, 2},
		{pods, []Sample{sample(0, ""), sample(1, "")}, 2}, // the exporter knows no pods
		{pods, []Sample{sample(0, "vllm-0"), sample(1, "other"), sample(2, "")}, 1},
		{pods, []Sample{sample(0, "vllm-1"), sample(1, "other"), sample(2, "")}, 1}, // the pod was replaced
		{pods, []Sample{sample(0, ""), sample(1, ""), sample(2, "")}, 1},
		{pods, []Sample{sample(0, ""), sample(1, ""), sample(2, "vllm-0")}, 2},
	} {
		if got := s.counted(one.page, one.pods); len(got) != one.want {
			t.Errorf("%+v: %+v, want %d", one, got, one.want)
		}
	}
}
