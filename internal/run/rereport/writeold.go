package rereport

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/wire/endpoint"
)

// OldStem is the default name of GenAI-Perf's files, without the extension.
const OldStem = "profile_export"

// WriteOld writes GenAI-Perf's files of every run in or below a directory, next to ours (genai-perf, section 14). These are the raw export in
// perf_analyzer's form, stem + ".json", the summary, stem + "_genai_perf.json", and its table, stem + "_genai_perf.csv". Every run must have a raw
// export.
func WriteOld(dir, stem string) error {
	runs, err := runfiles.Find([]string{dir}, func(string, ...any) {})
	for _, r := range runs {
		err = errors.Join(err, writeOldRun(r, stem))
	}
	return err
}

func writeOldRun(r *runfiles.Run, stem string) error {
	s, err := r.Summary()
	if err != nil {
		return err
	}
	return errors.Join(writeOldRaw(oldPathOf(r.Dir, stem)+".json", artifact.NewLayout(r.Dir, "").Raw(), s), writeOldSummary(r, s, stem))
}

// WriteOldSummary writes GenAI-Perf's summary and table of the run in a directory. The run may have no raw export.
func WriteOldSummary(dir, stem string) error {
	runs, err := runfiles.Find([]string{dir}, func(string, ...any) {})
	for _, r := range runs {
		s, e := r.Summary()
		if e == nil {
			e = writeOldSummary(r, s, stem)
		}
		err = errors.Join(err, e)
	}
	return err
}

func writeOldSummary(r *runfiles.Run, s *runfiles.Summary, stem string) error {
	gpus, err := oldGPUs(r.Dir)
	if err != nil {
		return err
	}
	figures := oldFigureList(s)
	summary, err := oldSummaryJSON(s, figures, gpus, filepath.Base(stem)+".json")
	if err != nil {
		return err
	}
	path := oldPathOf(r.Dir, stem)
	return errors.Join(artifact.WriteFile(path+"_genai_perf.json", summary), artifact.WriteFile(path+"_genai_perf.csv", oldTable(figures, gpus)))
}

// oldPathOf returns the common beginning of the paths of GenAI-Perf's files. A relative stem is relative to the directory of the run.
func oldPathOf(dir, stem string) string {
	if filepath.IsAbs(stem) {
		return stem
	}
	return filepath.Join(dir, stem)
}

// writeOldRaw writes the raw export. Only the owner can read it, because it contains bodies.
func writeOldRaw(path, raw string, s *runfiles.Summary) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("artifact directory: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".aiperf-export-*") // readable only by the owner
	if err != nil {
		return fmt.Errorf("create artifact: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	out := bufio.NewWriter(f)
	if err := oldRaw(out, raw, s); err != nil {
		return err
	}
	return out.Flush()
}

// oldRaw writes the requests of a raw export as perf_analyzer does. Instants are Unix ns. Warm-up requests and those that the run cancelled are
// omitted.
func oldRaw(out io.Writer, raw string, s *runfiles.Summary) error {
	mode, value := stimulusOf(s)
	o := jsontext.Open([]byte(`{"experiments":[{"experiment":`))
	o.Text("mode", mode)
	if value == math.Trunc(value) && mode == "concurrency" {
		o.Int("value", int64(value))
	} else {
		o.Float("value", value)
	}
	line := append(o.Close(), `,"requests":[`...)
	var from, to int64
	n := 0
	err := artifact.ReadRaw(raw, func(rec *record.Record) error {
		if rec.Warmup || rec.Cut != "" || rec.CancelledAt > 0 {
			return nil
		}
		if n++; n > 1 {
			line = append(line, ',')
		}
		line = appendOldRequest(line, rec)
		if from == 0 || rec.Wall(rec.Start) < from {
			from = rec.Wall(rec.Start)
		}
		to = max(to, rec.Wall(rec.End))
		_, err := out.Write(line)
		line = line[:0]
		return err
	})
	if err != nil {
		return err
	}
	line = fmt.Appendf(line, `],"window_boundaries":[%d,%d]}],`, from, to)
	typ := s.Setting("endpoint.type")
	o = jsontext.Open(nil)
	o.Text("version", s.Version)
	o.Text("service_kind", serviceKind(typ))
	o.Text("endpoint", strings.TrimPrefix(oldPath(s), "/"))
	_, err = out.Write(append(append(line, o.Close()[1:]...), '\n'))
	return err
}

// appendOldRequest appends a request. A failed request has no responses.
func appendOldRequest(b []byte, rec *record.Record) []byte {
	o := jsontext.Open(b)
	o.Int("timestamp", rec.Wall(rec.Start))
	o.Key("request_inputs")
	o.B = appendOldInputs(o.B, rec.Payload.Bytes())
	var times []int64
	var outputs []json.RawMessage
	if rec.Error == nil {
		for i := range rec.Messages {
			if text := oldOutput(&rec.Messages[i]); text != nil {
				times, outputs = append(times, rec.Wall(rec.Messages[i].At)), append(outputs, text)
			}
		}
	}
	o.Key("response_timestamps")
	o.B = append(o.B, '[')
	for i, at := range times {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = fmt.Appendf(o.B, "%d", at)
	}
	o.B = append(o.B, ']')
	o.Key("response_outputs")
	o.B = append(o.B, '[')
	for i, text := range outputs {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = append(o.B, text...)
	}
	o.B = append(o.B, ']')
	return o.Close()
}

// appendOldInputs appends the body as a text, or for Triton the tensors by their names.
func appendOldInputs(b, payload []byte) []byte {
	if v, err := fastjson.ParseBytes(payload); err == nil && v.Exists("model_name") && v.Exists("inputs") {
		return appendTensors(b, v.GetArray("inputs"))
	}
	o := jsontext.Open(b)
	o.Text("payload", string(payload))
	return o.Close()
}

// appendTensors appends tensors by their names: one value, or a list of them.
func appendTensors(b []byte, list []*fastjson.Value) []byte {
	o := jsontext.Open(b)
	for _, one := range list {
		o.Key(string(one.GetStringBytes("name")))
		switch data := one.GetArray("data"); len(data) {
		case 1:
			o.B = data[0].MarshalTo(o.B)
		default:
			o.B = one.Get("data").MarshalTo(o.B)
		}
	}
	return o.Close()
}

// oldOutput returns one message as perf_analyzer writes it: an event or a body as text, outputs of Triton by their names. It returns nil for the empty
// message that ends Triton's answer.
func oldOutput(m *record.Message) []byte {
	text, data := string(m.Raw), string(m.Raw)
	if m.Fields() != nil {
		text, data = "", ""
		for _, f := range m.Fields() {
			text += f.Name + ": " + f.Value + "\n"
			if f.Name == "data" {
				data += f.Value
			}
		}
	}
	if strings.Contains(data, `"outputs"`) {
		if v, err := fastjson.Parse(data); err == nil && v.Exists("model_name") && v.Exists("outputs") {
			if len(v.GetArray("outputs")) == 0 {
				return nil
			}
			return appendTensors(nil, v.GetArray("outputs"))
		}
	}
	if !m.Body {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	o := jsontext.Open(nil)
	o.Text("response", text)
	return o.Close()
}

// stimulusOf returns the load of the measured phase in GenAI-Perf's terms.
func stimulusOf(s *runfiles.Summary) (mode string, value float64) {
	phases, _ := s.Config["phases"].([]any)
	for _, one := range phases {
		p, _ := one.(map[string]any)
		if p["kind"] == "warmup" {
			continue
		}
		if rate, ok := p["rate"].(float64); ok {
			return "request_rate", rate
		}
		if n, ok := p["concurrency"].(float64); ok {
			return "concurrency", n
		}
		if typ, ok := p["type"].(string); ok {
			mode = typ
		}
	}
	return mode, 0
}

// serviceKind returns GenAI-Perf's service kind for an endpoint type.
func serviceKind(typ string) string {
	switch typ {
	case "kserve":
		return "triton"
	case "dynamic_grpc":
		return "dynamic_grpc"
	}
	return "openai"
}

// oldPath returns the path of HTTP requests; "" for gRPC.
func oldPath(s *runfiles.Summary) string {
	if serviceKind(s.Setting("endpoint.type")) != "openai" {
		return ""
	}
	if path := s.Setting("endpoint.path"); path != "" {
		return path
	}
	e, _, err := endpoint.Lookup(s.Setting("endpoint.type"))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(e.URLPath(s.Setting("endpoint.streaming") == "true"), "{model}", s.Model())
}

// oldFigure is a metric under GenAI-Perf's name.
type oldFigure struct {
	tag, name, unit string
	single          bool // one figure for the whole run
	from            *runfiles.Figures
}

// oldMetrics lists the metrics of GenAI-Perf in the order of its table, with our metrics of the same meaning.
var oldMetrics = []struct {
	tag, from, name string
	single          bool
	unit            string // unit in its files, if it is called differently there
}{
	{"time_to_first_token", "time_to_first_output_token", "Time To First Token (ms)", false, ""},
	{"time_to_second_token", "time_to_second_token", "Time To Second Token (ms)", false, ""},
	{"request_latency", "request_latency", "Request Latency (ms)", false, ""},
	{"inter_token_latency", "inter_token_latency", "Inter Token Latency (ms)", false, ""},
	{"output_token_throughput_per_user", "output_token_throughput_per_user", "Output Token Throughput Per User (tokens/sec/user)", false, ""},
	{"output_sequence_length", "output_token_count", "Output Sequence Length (tokens)", false, ""},
	{"input_sequence_length", "input_sequence_length", "Input Sequence Length (tokens)", false, ""},
	{"image_throughput", "image_throughput", "Image Throughput (images/sec)", false, ""},
	{"image_latency", "image_latency", "Image Latency (ms/image)", false, ""},
	{"output_token_throughput", "output_token_throughput", "Output Token Throughput (tokens/sec)", true, ""},
	{"request_throughput", "request_throughput", "Request Throughput (per sec)", true, ""},
	{"request_goodput", "goodput", "Request Goodput (per sec)", true, ""},
	{"request_count", "request_count", "Request Count (count)", true, "count"},
}

// ofReasoning lists metrics that mean something else here for answers with reasoning, which GenAI-Perf does not read. They are omitted for such runs.
var ofReasoning = map[string]bool{
	"time_to_second_token": true, "inter_token_latency": true, "output_token_throughput": true, "output_token_throughput_per_user": true,
}

// oldFigureList returns the metrics that the run has.
func oldFigureList(s *runfiles.Summary) (list []oldFigure) {
	_, reasoning := s.Figures["reasoning_token_count"]
	for _, m := range oldMetrics {
		f := s.Figures[m.from]
		if f == nil || reasoning && ofReasoning[m.tag] {
			continue
		}
		one := oldFigure{tag: m.tag, name: m.name, unit: f.Unit, single: m.single, from: f}
		if m.unit != "" {
			one.unit = m.unit
		}
		list = append(list, one)
	}
	return list
}

// Statistics of the summary and columns of the table, in their order.
var (
	oldStats   = []metric.Stat{metric.Avg, metric.P1, metric.P5, metric.P10, metric.P25, metric.P50, metric.P75, metric.P90, metric.P95, metric.P99, metric.Min, metric.Max, metric.Std}
	oldColumns = []metric.Stat{metric.Avg, metric.Min, metric.Max, metric.P99, metric.P95, metric.P90, metric.P75, metric.P50, metric.P25, metric.P10, metric.P5, metric.P1}
)

// openOldAlone is openOld for directories without our own files of the same run, which contain more.
func openOldAlone(dir string) (*oldRun, error) {
	if _, err := os.Stat(artifact.NewLayout(dir, "").Raw()); err == nil && runfiles.IsRun(dir) {
		return nil, nil
	}
	return openOld(dir)
}
