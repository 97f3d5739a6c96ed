package plots

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// one is a settings file that draws one preset.
func one(section, preset string) string {
	return fmt.Sprintf("visualization:\n  %s_defaults: [x]\n  %s_plots:\n    x: %s\n", section, section, preset)
}

// TestRefusals: what is listed must be right, and the error says where, what and what is allowed.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ settings, want string }{
		{"[1]", "must be a mapping with the key visualization"},
		{"settings: {}", "must be a mapping with the key visualization"},
		{"visualization: {single_run_defaults: [no], single_run_plots: {now: {type: scatter}}}", "single_run_defaults lists no, which single_run_plots does not define; did you mean now?"},
		{one("multi_run", "{type: scatter_line, x: request_latency, y: request_throughput, groups: [model, concurrency]}"), "multi_run plot 'x'. Check the configuration file at F: groups allows one column, got 2"},
		{one("multi_run", "{type: pareto, x: request_latency, y: no_such_thing}"), "unknown metric no_such_thing"},
		{one("multi_run", "{type: pareto, x: request_latency_p42, y: request_throughput}"), `unknown statistic "p42"`},
		{one("multi_run", "{type: pareto, x: {metric: request_latency, stat: median}, y: request_throughput}"), `stat "median"; allowed are p50`},
		{one("multi_run", "{type: timeslice, x: request_latency, y: request_throughput}"), `type "timeslice"; allowed are bar, latency_throughput_uncertainty, pareto, scatter, scatter_line`},
		{one("single_run", "{type: scatter}"), "x or y is needed"},
		{one("single_run", "{type: scatter, x: request_number, y: request_latency, colour: red}"), "field colour not found"},
		{one("single_run", "{type: scatter, x: request_number, y: request_latency, source: moon}"), `source "moon"; allowed are requests`},
		{one("single_run", "{type: area, x: timestamp_s, y: throughput_tokens_per_sec, primary_style: {line_shape: wavy}}"), `line_shape "wavy"; allowed are linear, hv, spline`},
		{one("single_run", "{type: scatter, x: request_number, y: request_latency}") + "settings: {server_metrics_downsampling: {enabled: true, window_size_seconds: 0, aggregation_method: mean}}", "window_size_seconds must be above 0, got 0"},
		{one("single_run", "{type: scatter, x: request_number, y: request_latency}") + "experiment_classification: {default: neither}", `default "neither"; allowed are baseline and treatment`},
	} {
		cfg, err := ParseConfig([]byte(c.settings), "F")
		for _, section := range []string{"multi", "single"} {
			if err == nil && section == "multi" {
				_, err = cfg.Listed(&cfg.Multi)
			} else if err == nil {
				_, err = cfg.Listed(&cfg.Single)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %q", c.settings, err, c.want)
		}
	}
	// a bad preset that is only defined harms nobody
	cfg, err := ParseConfig([]byte("visualization: {single_run_defaults: [], single_run_plots: {x: {type: nothing}}}"), "F")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Listed(&cfg.Single); err != nil {
		t.Error(err)
	}
}

// TestShippedPresets: every preset of the shipped file is right.
func TestShippedPresets(t *testing.T) {
	c, err := ParseConfig(Default, "shipped")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range []*Section{&c.Multi, &c.Single} {
		for _, name := range slices.Sorted(maps.Keys(s.plots)) {
			if _, err := c.Preset(s, name); err != nil {
				t.Error(err)
			}
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d presets", n)
	}
}

// TestPresetKeys: labels of axes are drawn, statistics go into titles, a preset without labels is drawn without texts, one series a run.
func TestPresetKeys(t *testing.T) {
	got, _ := drawn(t, "multi_c1_c4_c8", one("multi_run", "{type: scatter_line, x: {metric: time_to_first_token, stat: p99}, y: concurrency, x_label: mine, autoscale: y}"))
	c := got["x.png"]
	if c.X.Title != "mine" || c.Y.Title != "Concurrency Level" || c.Traces[0].Text != nil || !c.X.FromZero || c.Y.FromZero || len(c.Traces) != 3 || c.Traces[0].Name != "c1" {
		t.Errorf("%+v", c)
	}
	if got, _ = drawn(t, "multi_c1_c4_c8", one("multi_run", "{type: scatter, x: time_to_first_token_p99, y: request_throughput, groups: [model]}")); got["x.png"].X.Title != "Time to First Token (p99) (ms)" {
		t.Errorf("%+v", got["x.png"].X)
	}
}

// TestClassification: baselines come first, in grey; legends have the names of the file.
func TestClassification(t *testing.T) {
	classes := "experiment_classification: {baselines: ['c8'], treatments: ['c4'], group_display_names: {c8: Before}}\n"
	got, _ := drawn(t, "multi_c1_c4_c8", one("multi_run", "{type: scatter_line, x: time_to_first_token, y: request_throughput, groups: [model]}")+classes)
	var names, colours []string
	for _, trace := range got["x.png"].Traces {
		names, colours = append(names, trace.Name), append(colours, trace.Color)
	}
	if strings.Join(names, " ") != "Before c1 c4" || colours[0] != chart.Gray || colours[1] != chart.Green || colours[2] != "#023eff" {
		t.Errorf("%v %v", names, colours)
	}
	for pattern, want := range map[string]bool{"*c8*": true, "c?": true, "c[789]": true, "c[!8]": false, "C8": false, "*/x/c8": true} {
		if fits([]string{pattern}, "c8", "/a/x/c8") != want {
			t.Errorf("%s fits: %v", pattern, !want)
		}
	}
	c := Classes{Pattern: `^(team\w+)_`}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if kind, group := c.class(runfiles.Open("/x/teamA_run3")); kind != treatment || group != "teamA" {
		t.Error(kind, group)
	}
}

// TestFrontier: equal points both stay, of one x the best y leads.
func TestFrontier(t *testing.T) {
	of := func(largerX, largerY bool, xy ...float64) string {
		var list []point
		for i := 0; i < len(xy); i += 2 {
			list = append(list, point{x: xy[i], y: xy[i+1]})
		}
		out := ""
		for _, p := range frontier(list, largerX, largerY) {
			out += fmt.Sprintf("%g,%g ", p.x, p.y)
		}
		return out
	}
	for _, c := range []struct{ got, want string }{
		{of(false, true, 1, 1, 2, 3, 3, 2, 4, 3, 5, 4), "1,1 2,3 4,3 5,4 "},
		{of(true, true, 1, 5, 2, 3, 3, 4, 4, 1), "1,5 3,4 4,1 "},
		{of(false, false, 1, 5, 2, 6, 3, 4), "1,5 3,4 "},
		{of(false, true, 1, 1, 1, 3, 1, 3), "1,3 1,3 "},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestUncertainty: half widths are those of Student's t, the region is an ellipse around the mean.
func TestUncertainty(t *testing.T) {
	run := runfiles.Open(filepath.Join("testdata", "golden", "multi_c1_c4_c8", "c1"))
	c := newCell([]point{{x: 10, y: 1, run: run}, {x: 12, y: 1, run: run}, {x: 14, y: 1, run: run}}, 0.95)
	if !near(c.halfX, 4.968275) || c.halfY != 0 || c.x != 12 { // t(0.975, 2) = 4.302653, times 2/√3
		t.Errorf("%+v", c)
	}
	r := c.region("#000000")
	if len(r.X) != 65 || r.X[0] != r.X[64] || r.Y[0] != r.Y[64] || !near(r.X[0], 12+c.halfX) {
		t.Errorf("%v", r.X)
	}
}

// TestRolled: percentiles of a window that grows, less what is absent.
func TestRolled(t *testing.T) {
	got := rollingPercentile([]float64{4, 2, math.NaN(), 8, 6}, 3, 50)
	for i, want := range []float64{4, 3, 3, 5, 7} {
		if got[i] != want {
			t.Errorf("%v", got)
		}
	}
}

// TestServerMetrics: filters pick series, histograms become bars and bands.
func TestServerMetrics(t *testing.T) {
	for text, want := range map[string]string{
		"a:b[http://x:1/m]{l=v,m=\"w\"}": "&{a:b http://x:1/m map[l:v m:w]}",
		"a":                              "&{a  map[]}", "a[x": "", "a{l}": "", "a]": "", "a{l=v": "",
	} {
		f, err := parseFilter(text)
		if want == "" && err == nil || want != "" && fmt.Sprint(f) != want {
			t.Errorf("%s: %v %v", text, f, err)
		}
	}
	got, said := drawn(t, "single_gpu_c2", one("single_run", "{type: percentile_bands, y: 'vllm:e2e_request_latency_seconds'}"))
	c := got["x.png"]
	if c == nil || len(c.Traces) != 3 || c.Y.Title != "vllm:e2e_request_latency_seconds (seconds)" {
		t.Fatalf("%+v %s", c, said)
	}
	if v := c.Traces[2].Y[0]; !near(v, 0.1) { // 5 of 10 lie below 0.1 s
		t.Errorf("median of the first slice %v", v)
	}
	got, _ = drawn(t, "single_gpu_c2", one("single_run", "{type: histogram, y: 'vllm:e2e_request_latency_seconds'}"))
	if c := got["x.png"]; c == nil || fmt.Sprint(c.Traces[0].Y, c.X.Labels) != "[30 23 6] [≤ 0.1 ≤ 0.5 > 0.5]" {
		t.Errorf("%+v", c)
	}
	if _, said = drawn(t, "single_c4", one("single_run", "{type: scatter, y: 'vllm:num_requests_running'}")); !strings.Contains(said, "server_metrics") {
		t.Errorf("%s", said)
	}
}

// TestGenAIPerfPlots: the five pictures of GenAI-Perf.
func TestGenAIPerfPlots(t *testing.T) {
	c, err := ParseConfig(Default, "x")
	if err != nil {
		t.Fatal(err)
	}
	set, err := Make(Options{Paths: []string{"testdata/golden/single_c4"}, Config: c, Theme: "light", Presets: GenAIPerf, Warn: t.Errorf})
	if err != nil || len(set.Charts) != 5 {
		t.Fatal(err, len(set.Charts))
	}
	s, err := runfiles.Open(filepath.Join("testdata", "golden", "single_c4", "c4")).Summary()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Charts {
		tag := strings.TrimSuffix(c.Name, "_vs_input_sequence_lengths")
		if m, known := metric.Lookup(tag); known { // names, units and values are those of the summary
			mean := 0.0
			for _, y := range c.Traces[0].Y {
				mean += y / float64(len(c.Traces[0].Y))
			}
			if avg, _ := s.Stat(tag, "avg"); c.Y.Title != m.Header+" ("+m.Display+")" || !near(mean, avg) {
				t.Errorf("%s: %q, mean %v, want %v", c.Name, c.Y.Title, mean, avg)
			}
		}
		switch c.Name {
		case "time_to_first_token":
			if len(c.Traces[0].Y) != 24 || !near(c.Traces[2].Y[0], 53.4187325) { // the summary's p50
				t.Errorf("%+v", c.Traces[2])
			}
		case "token_to_token_latency_vs_output_token_position":
			if n := len(c.Traces[0].X); n != 24*31 || c.Traces[0].X[0] != 2 {
				t.Error(n, c.Traces[0].X[0])
			}
		case "distribution_of_input_sequence_lengths_to_output_sequence_lengths":
			if len(c.Traces[0].X) != 1 || c.Traces[0].Text[0] != "24" {
				t.Errorf("%+v", c.Traces[0])
			}
		}
	}
}

// TestScales: an axis is made logarithmic, says so and has no zero; other words are refused; the dump tells.
func TestScales(t *testing.T) {
	run := runfiles.Open(filepath.Join("testdata", "golden", "single_c4", "c4"))
	for text, want := range map[string]string{
		`{type: scatter, x: request_number, y: time_to_first_token, y_scale: log}`:                "linear log Time to First Token (ms) (log)",
		`{type: scatter, x: request_number, y: time_to_first_token, x_scale: linear}`:             "linear linear Time to First Token (ms)",
		`{type: scatter, x: request_latency, y: time_to_first_token, x_scale: log, y_scale: log}`: "log log Time to First Token (ms) (log)",
		`{type: scatter, x: request_number, y: time_to_first_token, y_scale: cubic}`:              `y_scale "cubic"; allowed are linear, log`,
	} {
		got := ""
		p, err := Custom("a", []byte(text), false)
		if err == nil {
			var c *chart.Chart
			if c, err = Draw(Options{Config: &Config{}, Theme: "light"}, []*runfiles.Run{run}, p); err == nil {
				got = string(c.X.Kind()) + " " + string(c.Y.Kind()) + " " + c.Y.Title
				if c.Y.Kind() == chart.Log && c.Y.FromZero {
					t.Errorf("%s: starts at zero", text)
				}
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
