package artifact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// ReadGPU reads the object telemetry_data of a summary. names returns the display name of a figure's tag, "" = unknown.
func ReadGPU(data json.RawMessage, names func(tag string) string) (*metric.GPUTelemetry, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	var in struct {
		Summary struct {
			Configured []string `json:"endpoints_configured"`
			Successful []string `json:"endpoints_successful"`
			Start      string   `json:"start_time"`
			End        string   `json:"end_time"`
		} `json:"summary"`
		Endpoints json.RawMessage `json:"endpoints"`
		Errors    []struct {
			Details struct {
				Code    int      `json:"code"`
				Type    string   `json:"type"`
				Message string   `json:"message"`
				Chain   []string `json:"cause_chain"`
			} `json:"error_details"`
			Count int64 `json:"count"`
		} `json:"error_summary"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("telemetry_data: %w", err)
	}
	t := &metric.GPUTelemetry{Configured: in.Summary.Configured, Successful: in.Summary.Successful}
	for _, one := range []struct {
		text string
		to   *int64
	}{{in.Summary.Start, &t.Window.From}, {in.Summary.End, &t.Window.To}} {
		if at, err := time.ParseInLocation("2006-01-02T15:04:05.999999", one.text, time.Local); err == nil {
			*one.to = at.UnixNano()
		}
	}
	for _, e := range in.Errors {
		t.Errors = append(t.Errors, metric.ErrorGroup{Count: e.Count, Error: record.Error{Code: e.Details.Code, Type: e.Details.Type, Message: e.Details.Message, Chain: e.Details.Chain}})
	}
	endpoints, err := members(in.Endpoints)
	for _, m := range endpoints {
		e := metric.GPUEndpoint{Name: m.key}
		if err == nil {
			e.GPUs, err = readGPUs(m.value, names)
		}
		t.Endpoints = append(t.Endpoints, e)
	}
	return t, err
}

func readGPUs(data json.RawMessage, names func(tag string) string) (list []metric.GPU, err error) {
	var in struct {
		GPUs map[string]struct {
			Index     int             `json:"gpu_index"`
			Name      string          `json:"gpu_name"`
			UUID      string          `json:"gpu_uuid"`
			Platform  string          `json:"platform"`
			Hostname  string          `json:"hostname"`
			Namespace string          `json:"namespace"`
			Pod       string          `json:"pod_name"`
			Metrics   json.RawMessage `json:"metrics"`
		} `json:"gpus"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("telemetry_data: %w", err)
	}
	for _, g := range in.GPUs {
		one := metric.GPU{Index: g.Index, Name: g.Name, UUID: g.UUID, Platform: cmp.Or(g.Platform, "nvidia"), Hostname: g.Hostname, Namespace: g.Namespace, Pod: g.Pod}
		figures, err := members(g.Metrics)
		if err != nil {
			return nil, err
		}
		for _, f := range figures {
			m := metric.GPUMetric{Tag: f.key, Name: cmp.Or(names(f.key), f.key)}
			if m.Unit, m.Values, err = readStats(f.value); err != nil {
				return nil, fmt.Errorf("telemetry_data: %s: %w", f.key, err)
			}
			one.Metrics = append(one.Metrics, m)
		}
		list = append(list, one)
	}
	sorting.Sort(list, func(a, b metric.GPU) int { return a.Index - b.Index })
	return list, nil
}

// readStats reads what appendStats wrote.
func readStats(data json.RawMessage) (unit string, values [metric.Stats]float64, err error) {
	values = metric.NoStats()
	var in map[string]any
	if err = json.Unmarshal(data, &in); err != nil {
		return "", values, err
	}
	unit, _ = in["unit"].(string)
	for s := metric.Avg; s < metric.Stats; s++ {
		if v, ok := in[s.String()].(float64); ok {
			values[s] = v
		}
	}
	return unit, values, nil
}

// member is one member of an object whose order matters.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object in their order; none for a missing object.
func members(data json.RawMessage) (list []member, err error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("telemetry_data: must be an object, got %.40s", data)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("telemetry_data: %w", err)
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("telemetry_data: %w", err)
		}
		list = append(list, m)
	}
	return list, nil
}
