package plots

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/report/chart"
)

// recorded is what the Python tool drew of a folder of runs.
type recorded struct {
	Plots []struct {
		File, Title string
		X           string `json:"x_axis"`
		Y           string `json:"y_axis"`
		Y2          string `json:"y2_axis"`
		Total       int    `json:"traces_total"`
		Traces      []struct {
			Name, Type, Mode string
			N                int
			X, Y             []*float64
			Axis             string `json:"yaxis"`
			Line             struct{ Color string }
			Error            *struct{ Array []float64 } `json:"error_y"`
		}
	}
	Expected map[string][]struct {
		Label string
		X     float64 `json:"x_avg"`
		Y     float64 `json:"y_avg"`
	} `json:"expected_points"`
}

// drawn are the charts of the runs of a recorded folder, with the shipped settings, and the warnings.
func drawn(t *testing.T, folder, settings string) (map[string]*chart.Chart, string) {
	t.Helper()
	var said strings.Builder
	c, err := ParseConfig([]byte(settings), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	set, err := Make(Options{
		Paths: []string{filepath.Join("testdata", "golden", folder)}, Config: c, Theme: "light",
		Warn: func(format string, args ...any) { said.WriteString(strings.TrimSpace(sprintf(format, args...)) + "\n") },
	})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*chart.Chart{}
	for _, c := range set.Charts {
		by[c.Name+".png"] = c
	}
	return by, said.String()
}

// decorations of the recorded charts: halos, and traces that exist for the legend.
func decoration(x []*float64, name, colour string) bool {
	none := true
	for _, v := range x {
		none = none && v == nil
	}
	return none || name == "" && strings.HasPrefix(colour, "rgba")
}

func near(a, b float64) bool { return math.Abs(a-b) <= math.Max(1e-6*math.Abs(b), 1.1e-6) }

// TestGoldenSingle compares every chart of one run with what the Python tool drew: names, kinds, points.
func TestGoldenSingle(t *testing.T) {
	for _, folder := range []string{"single_c4", "single_gpu_c2"} {
		var want recorded
		testrecording.JSON(t, filepath.Join("testdata", "golden", folder, "plots.json"), &want)
		got, said := drawn(t, folder, string(Default))
		for _, p := range want.Plots {
			c := got[p.File]
			if c == nil {
				t.Errorf("%s: %s is not drawn; %s", folder, p.File, said)
				continue
			}
			title, _, _ := strings.Cut(p.Title, "<br>")
			unit := strings.NewReplacer("Throughput Tokens Per Sec", "Output token throughput (tokens/s)", "Nvidia Gpu", "GPU") // ours has the unit, and no vendor
			if c.Title != title || c.X.Title != p.X || c.Y.Title != unit.Replace(p.Y) || p.Y2 != "" && c.Y2.Title != unit.Replace(p.Y2) {
				t.Errorf("%s: titles %q %q %q", p.File, c.Title, c.X.Title, c.Y.Title)
			}
			k := 0
			for _, w := range p.Traces {
				if decoration(w.X, w.Name, w.Line.Color) {
					continue
				}
				g := c.Traces[k]
				k++
				if g.Name != unit.Replace(w.Name) || g.Kind != w.Type || g.Mode != w.Mode || len(g.X) != w.N || g.Second != (w.Axis == "y2") {
					t.Errorf("%s: trace %d is %q %s %s of %d points, want %q %s %s of %d", p.File, k, g.Name, g.Kind, g.Mode, len(g.X), w.Name, w.Type, w.Mode, w.N)
					continue
				}
				for i := range w.X {
					if !near(g.X[i], *w.X[i]) || w.Y[i] != nil && !near(g.Y[i], *w.Y[i]) {
						t.Errorf("%s: trace %d point %d is %v %v, want %v %v", p.File, k, i, g.X[i], g.Y[i], *w.X[i], *w.Y[i])
						break
					}
				}
				if w.Error != nil && !near(g.ErrorY[0], w.Error.Array[0]) {
					t.Errorf("%s: error bars %v, want %v", p.File, g.ErrorY, w.Error.Array)
				}
			}
			if n := max(p.Total, k); len(c.Traces) != n {
				t.Errorf("%s: %d traces, want %d", p.File, len(c.Traces), n)
			}
		}
	}
}

// TestMultiDrawsTheStatistic: pictures of several runs show the statistic that the preset names, where the Python tool shows medians.
func TestMultiDrawsTheStatistic(t *testing.T) {
	var want recorded
	testrecording.JSON(t, "testdata/golden/multi_c1_c4_c8/plots.json", &want)
	got, said := drawn(t, "multi_c1_c4_c8", string(Default))
	c := got["ttft_vs_throughput.png"]
	if c == nil || len(c.Traces) != 1 {
		t.Fatalf("%v", got)
	}
	trace := c.Traces[0]
	for i := 1; i < len(trace.X); i++ {
		if trace.X[i] < trace.X[i-1] {
			t.Errorf("x goes down: %v", trace.X)
		}
	}
	for _, w := range want.Expected["ttft_vs_throughput"] {
		found := false
		for i := range trace.X {
			found = found || near(trace.X[i], w.X) && near(trace.Y[i], w.Y) && trace.Text[i] == w.Label
		}
		if !found {
			t.Errorf("no point %v %v of concurrency %s in %v", w.X, w.Y, w.Label, trace)
		}
	}
	for _, name := range []string{"pareto_curve_throughput_per_gpu_vs_latency", "latency_throughput_uncertainty"} {
		c := got[name+".png"]
		if c == nil || !strings.Contains(c.Title+c.Y.Title, "Token Throughput (tokens/sec)") || !strings.Contains(strings.ToLower(c.Title), "total") {
			t.Errorf("%s without GPUs: %+v", name, c)
		}
		if !regexp.MustCompile(name + ".*output_token_throughput_per_gpu").MatchString(said) {
			t.Errorf("no line says what %s lacks: %s", name, said)
		}
	}
}

// TestDump: the dump holds every value of a chart, in the contract's words.
func TestDump(t *testing.T) {
	got, _ := drawn(t, "single_gpu_c2", string(Default))
	c := got["gpu_utilization_and_throughput_over_time.png"]
	text, err := chart.Dump([]*chart.Chart{c}, ".png")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		File, Title string
		Y2          string `json:"y2_title"`
		XType       string `json:"x_type"`
		Traces      []struct {
			Name *string
			Axis string
			Y    []float64
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	one := list[0]
	if one.File != c.Name+".png" || one.Title != c.Title+"\n"+c.Subtitle || one.Y2 != "GPU Utilization (%)" || one.XType != "linear" || one.Traces[1].Axis != "y2" || one.Traces[1].Y[3] != c.Traces[1].Y[3] {
		t.Errorf("%s", text[:400])
	}
}

// TestImages: every chart becomes a PNG of the promised size and an SVG that holds its texts.
func TestImages(t *testing.T) {
	got, _ := drawn(t, "single_c4", string(Default))
	c := got["timeslices_ttft.png"]
	png, err := Image(c, "dark", PNG, "small")
	if err != nil || len(png) < 1000 || [8]byte(png[16:24]) != [8]byte{0, 0, 800 >> 8, 800 & 255, 0, 0, 400 >> 8, 400 & 255} {
		t.Errorf("%v %v", err, png[:min(24, len(png))])
	}
	svg, err := Image(c, "light", SVG, "large")
	for _, words := range []string{"<svg", "Time to First Token Across Time Slices", "Run Average: 51.93 ms", "0-1"} {
		if err != nil || !strings.Contains(string(svg), words) {
			t.Errorf("%v: the SVG lacks %q", err, words)
		}
	}
}

// TestWrite: files, and the list of them.
func TestWrite(t *testing.T) {
	c, err := ParseConfig(Default, "x")
	if err != nil {
		t.Fatal(err)
	}
	set, err := Make(Options{Paths: []string{"testdata/golden/multi_c1_c4_c8"}, Config: c, Theme: "dark", Warn: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := set.Write(dir, "dark", "small", []string{PNG, SVG}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.??g"))
	list, err := os.ReadFile(filepath.Join(dir, "summary.txt"))
	if err != nil || len(files) != 8 || !strings.Contains(string(list), "Generated 4 plots:\n") || !strings.Contains(string(list), "- ttft_vs_throughput.svg") {
		t.Errorf("%v %v %s", err, files, list)
	}
}
