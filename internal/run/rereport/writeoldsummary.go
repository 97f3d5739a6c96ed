package rereport

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/telemetry/gpu"
)

// oldGPU is a GPU figure under GenAI-Perf's name.
type oldGPU struct {
	tag, name, unit string
	index           string
	single          bool // constant: only the average is written
	values          [metric.Stats]float64
}

// oldGPUFigures lists GenAI-Perf's GPU figures in the order of its tables, with ours of the same meaning (telemetry, section 1.13). Its counters, such
// as energy, are omitted: they average a total, which does not describe a run.
var oldGPUFigures = []struct {
	tag, from, name, unit string
	single                bool
}{
	{"gpu_power_usage", "nvidia_power_usage", "GPU Power Usage (W)", "W", false},
	{"gpu_power_limit", "nvidia_power_limit", "GPU Power Limit (W)", "W", true},
	{"total_gpu_memory", "nvidia_memory_total", "Total GPU Memory (GB)", "GB", true},
	{"gpu_memory_used", "nvidia_memory_used", "GPU Memory Used (GB)", "GB", false},
	{"gpu_memory_free", "nvidia_memory_free", "GPU Memory Free (GB)", "GB", false},
	{"gpu_utilization", "nvidia_gpu_utilization", "GPU Utilization (%)", "%", false},
	{"memory_copy_utilization", "nvidia_memory_utilization", "Memory Copy Utilization (%)", "%", false},
	{"sm_utilization", "nvidia_sm_utilization", "SM Utilization (%)", "%", false},
	{"video_encoder_utilization", "nvidia_encoder_utilization", "Video Encoder Utilization (%)", "%", false},
	{"video_decoder_utilization", "nvidia_decoder_utilization", "Video Decoder Utilization (%)", "%", false},
	{"gpu_clock_sm", "nvidia_sm_clock", "GPU Clock Sm (MHz)", "MHz", false},
	{"gpu_clock_memory", "nvidia_memory_clock", "GPU Clock Memory (MHz)", "MHz", false},
	{"gpu_temperature", "nvidia_temperature", "GPU Temperature (C)", "C", false},
	{"gpu_memory_temperature", "nvidia_memory_temperature", "GPU Memory Temperature (C)", "C", false},
}

// oldGPUs reads the GPU figures of the summary in a directory.
func oldGPUs(dir string) (list []oldGPU, err error) {
	text, err := os.ReadFile(artifact.NewLayout(dir, "").SummaryJSON())
	if err != nil {
		return nil, err
	}
	var in struct {
		Telemetry json.RawMessage `json:"telemetry_data"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	t, err := artifact.ReadGPU(in.Telemetry, gpu.NameOf)
	if err != nil || t == nil {
		return nil, err
	}
	for _, f := range oldGPUFigures {
		n := 0
		for _, e := range t.Endpoints {
			for i := range e.GPUs {
				for _, m := range e.GPUs[i].Metrics {
					if m.Tag == f.from {
						list = append(list, oldGPU{tag: f.tag, name: f.name, unit: f.unit, index: strconv.Itoa(n), single: f.single, values: m.Values})
					}
				}
				n++ // GPUs of several exporters get consecutive numbers, because their own indices collide
			}
		}
	}
	return list, nil
}

// oldSummaryJSON returns the summary: metrics, GPUs and settings.
func oldSummaryJSON(s *runfiles.Summary, figures []oldFigure, gpus []oldGPU, export string) ([]byte, error) {
	o := jsontext.Open(nil)
	for _, f := range figures {
		o.Key(f.tag)
		one := jsontext.Open(o.B)
		one.Text("unit", f.unit)
		for _, st := range oldStats {
			if v, ok := f.from.Stats[st.String()]; ok && (!f.single || st == metric.Avg) {
				one.Float(st.String(), v)
			}
		}
		o.B = one.Close()
	}
	if len(gpus) > 0 {
		o.Key("telemetry_stats")
		o.B = appendOldGPUs(o.B, gpus)
	}
	settings, err := json.Marshal(oldSettings(s, export))
	if err != nil {
		return nil, err
	}
	o.Raw("input_config", settings)
	var out bytes.Buffer
	if err := json.Indent(&out, o.Close(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func appendOldGPUs(b []byte, gpus []oldGPU) []byte {
	all := jsontext.Open(b)
	for i := 0; i < len(gpus); {
		all.Key(gpus[i].tag)
		of := jsontext.Open(all.B)
		of.Text("unit", gpus[i].unit)
		for tag := gpus[i].tag; i < len(gpus) && gpus[i].tag == tag; i++ {
			of.Key(gpus[i].index)
			one := jsontext.Open(of.B)
			for _, st := range oldStats {
				if v := gpus[i].values[st]; !math.IsNaN(v) && (!gpus[i].single || st == metric.Avg) {
					one.Float(st.String(), v)
				}
			}
			of.B = one.Close()
		}
		all.B = of.Close()
	}
	return all.Close()
}

// oldSettings returns the settings that readers of GenAI-Perf's files use, in its layout.
func oldSettings(s *runfiles.Summary, export string) map[string]any {
	typ := s.Setting("endpoint.type")
	mode, value := stimulusOf(s)
	goodput := map[string]any{}
	if list, ok := s.Config["slos"].(map[string]any); ok {
		goodput = list
	}
	out := map[string]any{
		"model_names": modelNames(s), "subcommand": "profile",
		"endpoint": map[string]any{
			"type": typ, "service_kind": serviceKind(typ), "custom": strings.TrimPrefix(oldPath(s), "/"), "streaming": s.Setting("endpoint.streaming") == "true", "url": s.Setting("endpoint.urls"),
		},
		"perf_analyzer": map[string]any{"stimulus": map[string]any{mode: value}},
		"input":         map[string]any{"goodput": goodput},
		"output":        map[string]any{"profile_export_file": export},
		"tokenizer":     map[string]any{"name": s.Setting("tokenizer.name"), "revision": s.Setting("tokenizer.revision")},
	}
	if typ == "kserve" {
		out["endpoint"].(map[string]any)["backend"] = cmp.Or(s.Setting("endpoint.backend"), "tensorrtllm")
	}
	return out
}

// modelNames returns the names of the run's models.
func modelNames(s *runfiles.Summary) []string {
	names := []string{}
	models, _ := s.Config["models"].(map[string]any)
	items, _ := models["items"].([]any)
	for _, one := range items {
		item, _ := one.(map[string]any)
		if name, ok := item["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// oldTable returns the table of the summary: metrics of requests, of the run, and of GPUs.
func oldTable(figures []oldFigure, gpus []oldGPU) []byte {
	head := []string{"Metric"}
	for _, st := range oldColumns {
		head = append(head, st.String())
	}
	requests, whole := [][]string{head}, [][]string{{"Metric", "Value"}}
	for _, f := range figures {
		row := []string{f.name}
		for _, st := range oldColumns {
			if v, ok := f.from.Stats[st.String()]; ok && !f.single {
				row = append(row, oldNumber(v))
			} else if !f.single {
				row = append(row, "")
			}
		}
		if f.single {
			whole = append(whole, append(row, oldNumber(f.from.Stats[metric.Avg.String()])))
		} else {
			requests = append(requests, row)
		}
	}
	blocks := [][][]string{requests, whole}
	watched, fixed := [][]string{slices.Insert(slices.Clone(head), 1, "GPU")}, [][]string{{"Metric", "GPU", "Value"}}
	for _, g := range gpus {
		row := []string{g.name, g.index}
		if g.single {
			fixed = append(fixed, append(row, oldNumber(g.values[metric.Avg])))
			continue
		}
		for _, st := range oldColumns {
			row = append(row, oldNumber(g.values[st]))
		}
		watched = append(watched, row)
	}
	for _, b := range [][][]string{watched, fixed} {
		if len(b) > 1 {
			blocks = append(blocks, b)
		}
	}
	var out bytes.Buffer
	for i, b := range blocks {
		if i > 0 {
			out.WriteByte('\n')
		}
		_ = csv.NewWriter(&out).WriteAll(b) // writing to a buffer cannot fail
	}
	return out.Bytes()
}

// oldNumber formats a number with two decimals and thousands separators; "" for NaN.
func oldNumber(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', 2, 64)
	for i := len(text) - 6; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if v < 0 {
		text = "-" + text
	}
	return text
}
