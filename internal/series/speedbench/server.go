package speedbench

import (
	"encoding/json"
	"math"
	"strings"

	"aiperf/internal/base/jsontext"
)

// serverMetrics holds statistics of the first series of each metric of a server, in the order of the file.
type serverMetrics struct {
	names []string
	stats map[string]map[string]float64
}

func readServer(text []byte) (serverMetrics, error) {
	m := serverMetrics{stats: map[string]map[string]float64{}}
	if err := jsontext.Check(text); err != nil {
		return m, err
	}
	var doc struct{ Metrics json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Metrics) == 0 {
		return m, err
	}
	d := json.NewDecoder(strings.NewReader(string(doc.Metrics)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return m, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return m, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return m, err
		}
		var metric struct {
			Series []struct{ Stats map[string]any }
		}
		name, _ := key.(string) // keys of objects are strings
		m.names = append(m.names, name)
		if json.Unmarshal(raw, &metric) != nil || len(metric.Series) == 0 {
			continue
		}
		values := map[string]float64{}
		for stat, v := range metric.Series[0].Stats {
			if f, ok := v.(float64); ok {
				values[stat] = f
			}
		}
		m.stats[name] = values
	}
	return m, nil
}

// get returns a statistic of the first of the metrics that has it.
func (m serverMetrics) get(stat string, names ...string) (float64, bool) {
	for _, name := range names {
		if v, ok := m.stats[name][stat]; ok {
			return v, true
		}
	}
	return math.NaN(), false
}

// ratio returns the accepted tokens of vLLM's counters divided by another of its counters.
func (m serverMetrics) ratio(of string) (float64, bool) {
	accepted, ok1 := m.get("total", "vllm:spec_decode_num_accepted_tokens")
	n, ok2 := m.get("total", of)
	return accepted / n, ok1 && ok2 && n > 0
}

// length returns the mean number of tokens per step: the accepted draft tokens and the model's own one.
func (m serverMetrics) length() float64 {
	if v, ok := m.get("avg", "sglang:spec_accept_length", "vllm:spec_decode_mean_accepted_length", "trtllm:spec_accept_length"); ok {
		return v
	}
	if v, ok := m.ratio("vllm:spec_decode_num_drafts"); ok {
		return v + 1
	}
	for _, name := range m.names {
		low := strings.ToLower(name)
		if v, ok := m.get("avg", name); ok && strings.Contains(low, "spec") && strings.Contains(low, "accept") && strings.Contains(low, "length") {
			return v
		}
	}
	return math.NaN()
}

// rate returns the share of drafted tokens that were accepted.
func (m serverMetrics) rate() float64 {
	if v, ok := m.get("avg", "sglang:spec_accept_rate", "vllm:spec_decode_draft_acceptance_rate", "trtllm:spec_accept_rate"); ok {
		return v
	}
	if v, ok := m.ratio("vllm:spec_decode_num_draft_tokens"); ok {
		return v
	}
	return math.NaN()
}
