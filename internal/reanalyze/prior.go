package reanalyze

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/record"
)

// priorSummary is what the summary of the run itself tells, where it stands beside the raw export.
type priorSummary struct {
	BenchmarkID      string          `json:"benchmark_id"`
	InputConfig      json.RawMessage `json:"input_config"`
	Info             metric.RunInfo  `json:"run_info"`
	Cancelled        bool            `json:"was_cancelled"`
	Complete         *bool           `json:"is_complete"`
	IncompleteReason string          `json:"incomplete_reason"`
	Telemetry        json.RawMessage `json:"telemetry_data"`
	StartTime        string          `json:"start_time"`
	EndTime          string          `json:"end_time"`
	Window           struct {
		Start int64 `json:"start_ns"`
		End   int64 `json:"end_ns"`
	} `json:"window"`
}

// window is the profiling phase as the run knew it; without that, or if it is not about these requests (another time zone, another
// run), what the requests cover.
func (p priorSummary) window(span metric.Window) metric.Window {
	w := metric.Window{From: p.Window.Start, To: p.Window.End}
	if w.To == 0 {
		from, err1 := time.ParseInLocation("2006-01-02T15:04:05.999999", p.StartTime, time.Local)
		to, err2 := time.ParseInLocation("2006-01-02T15:04:05.999999", p.EndTime, time.Local)
		if err1 != nil || err2 != nil {
			return span
		}
		w = metric.Window{From: from.UnixNano(), To: to.UnixNano()}
	}
	const slack = int64(time.Second)
	if w.From > span.From+slack || w.To < span.To-slack || w.From < span.From-int64(time.Hour) {
		return span
	}
	return w
}

// readPrior reads the summary; without one the benchmark gets a new id.
func readPrior(input string) priorSummary {
	var p priorSummary
	dir := input
	if info, err := os.Stat(input); err == nil && !info.IsDir() {
		dir = filepath.Dir(input)
	}
	if data, err := os.ReadFile(artifact.NewLayout(dir, "").SummaryJSON()); err == nil {
		if json.Unmarshal(data, &p) != nil {
			p = priorSummary{}
		}
	}
	if p.BenchmarkID == "" {
		var b [6]byte
		rand.Read(b[:])
		p.BenchmarkID = hex.EncodeToString(b[:])
	}
	return p
}

// settings are what the configuration of the run says.
type settings struct {
	Endpoint struct {
		Type string `json:"type"`
	} `json:"endpoint"`
	Tokenizer struct {
		Name string `json:"name"`
	} `json:"tokenizer"`
}

func (p priorSummary) settings() (s settings) {
	if json.Unmarshal(p.InputConfig, &s) != nil {
		return settings{}
	}
	return s
}

// errEnough ends the look at the first record.
var errEnough = errors.New("seen enough")

// complete fills the endpoint type, streaming and the tokenizer from the run itself.
func (o *Options) complete(files []string, p priorSummary) error {
	var first *record.Record
	streams := false
	for _, f := range files {
		err := artifact.ReadRaw(f, func(rec *record.Record) error {
			if first == nil {
				first = rec
			}
			for i := range rec.Messages {
				if !rec.Messages[i].Body {
					streams = true
				}
			}
			if streams || len(rec.Messages) > 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	if first == nil {
		return fmt.Errorf("report: %s holds no request", o.Input)
	}
	o.python = fromPython(first)
	if o.Streaming == nil {
		streams = streamed(first.Payload.Bytes(), streams)
		o.Streaming = &streams
	}
	was := p.settings()
	if o.Tokenizer == "" {
		o.Tokenizer = was.Tokenizer.Name
	}
	if o.Tokenizer == "" {
		o.Tokenizer = "builtin"
	}
	if o.Endpoint != nil {
		return nil
	}
	name := was.Endpoint.Type
	if name == "" {
		name = guess(first.Payload.Bytes())
	}
	if name == "" {
		return errors.New("report: the requests do not tell the endpoint type; give --endpoint-type")
	}
	e, _, err := endpoint.Lookup(name)
	o.Endpoint = e
	return err
}

// streamed tells whether the run asked for streams: what the body says, else whether streams came.
func streamed(payload []byte, came bool) bool {
	var body struct {
		Stream *bool `json:"stream"`
	}
	if json.Unmarshal(payload, &body) == nil && body.Stream != nil {
		return *body.Stream
	}
	return came
}

// guess tells the endpoint type from the keys of a request body; "" = unknown.
func guess(payload []byte) string {
	var body map[string]json.RawMessage
	if json.Unmarshal(payload, &body) != nil {
		return ""
	}
	if body["input"] != nil && body["stream"] != nil {
		return "responses"
	}
	for _, g := range []struct{ key, name string }{
		{"messages", "chat"}, {"passages", "nim_rankings"}, {"documents", "cohere_rankings"}, {"texts", "hf_tei_rankings"},
		{"prompt", "completions"}, {"input", "embeddings"},
	} {
		if _, ok := body[g.key]; ok {
			return g.name
		}
	}
	return ""
}
