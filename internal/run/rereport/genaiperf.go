package rereport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/sorting"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/telemetry/gpu"
)

// oldSummary is the suffix of the summary file of a GenAI-Perf run.
const oldSummary = "_genai_perf.json"

// oldRun is a run of GenAI-Perf 0.0.16: its raw export and its summary (genai-perf, section 14).
type oldRun struct {
	raw, summary string
	export       oldExport
	config       oldConfig
	telemetry    map[string]map[string]json.RawMessage
}

// oldExport is the raw export. Instants are Unix ns.
type oldExport struct {
	Experiments []struct {
		Requests []oldRequest `json:"requests"`
	} `json:"experiments"`
}

type oldRequest struct {
	Timestamp int64 `json:"timestamp"`
	Inputs    struct {
		Payload *string `json:"payload"`
	} `json:"request_inputs"`
	Times   []int64 `json:"response_timestamps"`
	Outputs []struct {
		Response string `json:"response"`
	} `json:"response_outputs"`
}

// oldConfig holds the settings in the summary.
type oldConfig struct {
	Models   []string `json:"model_names"`
	Endpoint struct {
		Type      string `json:"type"`
		Streaming bool   `json:"streaming"`
	} `json:"endpoint"`
	Analyzer struct {
		Stimulus map[string]any `json:"stimulus"`
	} `json:"perf_analyzer"`
	Input struct {
		Goodput json.RawMessage `json:"goodput"`
	} `json:"input"`
	Tokenizer struct {
		Name     string `json:"name"`
		Revision string `json:"revision"`
	} `json:"tokenizer"`
}

// openOld reads the GenAI-Perf run in a directory; nil if there is none.
func openOld(dir string) (*oldRun, error) {
	summaries, err := filepath.Glob(filepath.Join(escape(dir), "*"+oldSummary))
	if err != nil || len(summaries) == 0 {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(escape(dir), "*.json"))
	if err != nil {
		return nil, err
	}
	r := &oldRun{summary: summaries[0]}
	stem := strings.TrimSuffix(r.summary, oldSummary)
	slices.SortStableFunc(files, func(a, b string) int { // first the file whose name matches the summary, then any other
		switch {
		case a == stem+".json":
			return -1
		case b == stem+".json":
			return 1
		}
		return strings.Compare(a, b)
	})
	var found bool
	for _, f := range files {
		if strings.HasSuffix(f, oldSummary) || filepath.Base(f) == "inputs.json" {
			continue
		}
		text, err := boundedfile.ReadAll(f, maxSummary)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &r.export); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if len(r.export.Experiments) > 0 {
			r.raw, found = f, true
			break
		}
	}
	if !found {
		return nil, nil
	}
	return r, r.readSummary()
}

func (r *oldRun) readSummary() error {
	text, err := boundedfile.ReadAll(r.summary, maxSummary)
	if err != nil {
		return err
	}
	var s struct {
		Config    *oldConfig                            `json:"input_config"`
		Telemetry map[string]map[string]json.RawMessage `json:"telemetry_stats"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", r.summary, err)
	}
	if s.Config == nil {
		return fmt.Errorf("%s: has no input_config, so it is not a summary of GenAI-Perf", r.summary)
	}
	r.config, r.telemetry = *s.Config, s.Telemetry
	return nil
}

// settings converts the configuration of the run to ours.
func (r *oldRun) settings() (*config.Benchmark, error) {
	b := &config.Default().Benchmark
	b.Endpoint.Type, b.Endpoint.Streaming = r.config.Endpoint.Type, r.config.Endpoint.Streaming
	for _, m := range r.config.Models {
		b.Models.Items = append(b.Models.Items, config.Model{Name: m})
	}
	b.Tokenizer.Name = r.config.Tokenizer.Name
	if r.config.Tokenizer.Revision != "" {
		b.Tokenizer.Revision = r.config.Tokenizer.Revision
	}
	var goals map[string]float64
	if json.Unmarshal(r.config.Input.Goodput, &goals) == nil { // an empty text means no objectives
		for tag, limit := range goals {
			b.SLOs = append(b.SLOs, config.SLO{Tag: tag, Threshold: limit})
		}
		sorting.Sort(b.SLOs, func(x, y config.SLO) int { return strings.Compare(x.Tag, y.Tag) })
	}
	return b, nil
}

// load describes the load of the run in words.
func (r *oldRun) load() string {
	text, err := json.Marshal(r.config.Analyzer.Stimulus)
	if err != nil {
		return ""
	}
	return string(text)
}

// each calls visit for every request.
func (r *oldRun) each(visit func(*record.Record) error) error {
	n := 0
	for _, e := range r.export.Experiments {
		for i := range e.Requests {
			rec, err := e.Requests[i].record()
			if err != nil {
				return fmt.Errorf("%s: request %d: %w", r.raw, n, err)
			}
			rec.SessionNum, rec.RequestID = int64(n), fmt.Sprintf("%d", n)
			n++
			if err := visit(rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// record converts a request to a record. Its clock is the wall clock.
func (q *oldRequest) record() (*record.Record, error) {
	switch {
	case q.Inputs.Payload == nil:
		return nil, errors.New("it has no payload; requests of kserve and dynamic_grpc cannot be merged")
	case len(q.Times) != len(q.Outputs):
		return nil, fmt.Errorf("%d timestamps for %d answers", len(q.Times), len(q.Outputs))
	case q.Timestamp <= 0:
		return nil, fmt.Errorf("timestamp %d", q.Timestamp)
	}
	var body struct {
		Model string `json:"model"`
	}
	payload := []byte(*q.Inputs.Payload)
	_ = json.Unmarshal(payload, &body) // not every payload names a model
	rec := &record.Record{Meta: record.Meta{Model: body.Model}, Start: q.Timestamp, End: q.Timestamp, Status: 200, Payload: record.Plain(payload)}
	for i, out := range q.Outputs {
		rec.End = max(rec.End, q.Times[i])
		rec.Messages = append(rec.Messages, messages(out.Response, q.Times[i])...)
	}
	if len(q.Times) == 0 {
		rec.Error = &record.Error{Type: "NoResponse", Message: "the export has no answer to this request"}
	}
	return rec, nil
}

// messages returns the messages of one read: a body, or one or more events.
func messages(text string, at int64) (list []record.Message) {
	if !strings.HasPrefix(text, "data:") {
		return []record.Message{{At: at, Body: true, Raw: []byte(text), Details: &record.Details{ContentType: "application/json"}}}
	}
	for event := range bytes.SplitSeq([]byte(text), []byte("\n\n")) {
		if event = bytes.TrimSpace(event); len(event) > 0 {
			list = append(list, record.Message{At: at, Raw: event})
		}
	}
	return list
}

func (r *oldRun) id() string { return "" }

func (r *oldRun) ended() (cancelled, complete bool) { return false, true }

// gpus returns the GPU statistics of the run.
func (r *oldRun) gpus() *metric.GPUTelemetry {
	byIndex := map[int]*metric.GPU{}
	for _, f := range oldGPUFigures {
		for key, raw := range r.telemetry[f.tag] {
			var index int
			var stats map[string]float64
			if n, err := fmt.Sscanf(key, "%d", &index); n != 1 || err != nil || json.Unmarshal(raw, &stats) != nil {
				continue
			}
			if byIndex[index] == nil {
				byIndex[index] = &metric.GPU{Index: index, Platform: "nvidia"}
			}
			m := metric.GPUMetric{Tag: f.from, Name: gpu.NameOf(f.from), Values: metric.NoStats()}
			if text := r.telemetry[f.tag]["unit"]; json.Unmarshal(text, &m.Unit) != nil {
				continue
			}
			for stat, v := range stats {
				if s, ok := metric.StatByName(stat); ok {
					m.Values[s] = v
				}
			}
			byIndex[index].Metrics = append(byIndex[index].Metrics, m)
		}
	}
	if len(byIndex) == 0 {
		return nil
	}
	e := metric.GPUEndpoint{}
	for _, g := range byIndex {
		e.GPUs = append(e.GPUs, *g)
	}
	sorting.Sort(e.GPUs, func(a, b metric.GPU) int { return a.Index - b.Index })
	return &metric.GPUTelemetry{Endpoints: []metric.GPUEndpoint{e}}
}
