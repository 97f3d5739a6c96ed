package runfiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// Summary holds the contents of a run's summary.
type Summary struct {
	Tags    []string // metrics, in the order of the file
	Figures map[string]*Figures
	Config  map[string]any // settings of the run

	Version, BenchmarkID string
	Command              string // as typed, with secrets hidden
	RandomSeed           string // digits; "" = none was given
	Cancelled            bool
	Complete             bool
	IncompleteReason     string
	Start, End           string // as in the file
	Errors               []ErrorGroup
	Validity             json.RawMessage // the verdict; nil = none
	Bounds               metric.Bounds   // ranges of the statistics that are not exact
	GPUs                 int             // number of GPUs in the summary
	IdleGPUs             int             // those of them that did nothing during the run
	Variation            string          // what the cell of a sweep varies
	Series               string          // id of the sweep or repetition that the run is part of; "" = none
}

// idleBelow is the largest utilization of an idle GPU, in %.
const idleBelow = 1

// idle reports whether a GPU of the summary did nothing during the run, as far as its utilization was measured.
func idle(gpu json.RawMessage) bool {
	var g struct {
		Metrics map[string]struct {
			Max *float64 `json:"max"`
		} `json:"metrics"`
	}
	if json.Unmarshal(gpu, &g) != nil {
		return false
	}
	for _, tag := range []string{"nvidia_gpu_utilization", "amd_gfx_activity"} {
		if most := g.Metrics[tag].Max; most != nil && *most < idleBelow {
			return true
		}
	}
	return false
}

// ErrorGroup is a group of equal failures.
type ErrorGroup struct {
	Code    int
	Type    string
	Message string
	Count   int64
}

// Figures holds the statistics of a metric, in the unit of the file.
type Figures struct {
	Unit  string
	Stats map[string]float64 // avg, min, p50 …
}

// Stat returns a statistic; false if the run does not have it.
func (s *Summary) Stat(tag, stat string) (float64, bool) {
	f := s.Figures[tag]
	if f == nil {
		return 0, false
	}
	v, ok := f.Stats[stat]
	return v, ok
}

// Approximate returns the range of a statistic that is too uncertain for a single number; false if it is exact enough or does not exist.
func (s *Summary) Approximate(tag, stat string) (metric.Range, bool) {
	v, ok := s.Stat(tag, stat)
	at, known := metric.StatByName(stat)
	if !ok || !known || s.Bounds.Certain(tag, at, v) {
		return metric.Range{}, false
	}
	return s.Bounds.Of(tag, at, v), true
}

// Verdict is the verdict of a run on its own measurement.
type Verdict struct {
	Word   string // "" = no verdict
	Reason string
	Notes  []string
	Facts  map[string]any // figures that the verdict is based on, by their names in the summary
}

// Verdict reads the verdict of the summary.
func (s *Summary) Verdict() (v Verdict) {
	if s.Validity == nil || json.Unmarshal(s.Validity, &v.Facts) != nil {
		return v
	}
	v.Word, _ = v.Facts["verdict"].(string)
	v.Reason, _ = v.Facts["reason"].(string)
	notes, _ := v.Facts["notes"].([]any)
	for _, one := range notes {
		if text, ok := one.(string); ok {
			v.Notes = append(v.Notes, text)
		}
	}
	return v
}

// ClientDoubt says that the client, and not the server, limited the run, certainly or perhaps, as metric.Validity does; "" = it did not.
func (v *Verdict) ClientDoubt() string {
	seconds := func(key string) time.Duration {
		n, _ := v.Facts[key].(float64)
		return time.Duration(n * float64(time.Second))
	}
	of := metric.Validity{Verdict: metric.Verdict(v.Word)}
	of.SlotUse = metric.SlotUse{SlotTime: seconds("slot_seconds"), SlotTimeLost: seconds("slot_lost_seconds"), SlotTimeUnsure: seconds("slot_unsure_seconds")}
	return of.ClientDoubt()
}

// readSummary reads the summary JSON.
func (r *Run) readSummary() (*Summary, error) {
	var text json.RawMessage
	if err := r.document(summaryFile, &text); err != nil {
		return nil, err
	}
	if key, bad := jsontext.Overflow(text); bad != "" {
		return nil, fmt.Errorf("%s: %s: the number %.40s is %w", filepath.Join(r.Dir, summaryFile), key, bad, ErrRange)
	}
	s := &Summary{Figures: map[string]*Figures{}, Complete: true}
	if err := s.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Dir, summaryFile), err)
	}
	return s, nil
}

func (s *Summary) read(text []byte) error {
	var known struct {
		Version     string          `json:"aiperf_version"`
		BenchmarkID string          `json:"benchmark_id"`
		Config      json.RawMessage `json:"input_config"`
		Own         json.RawMessage `json:"own_config"`
		Cancelled   bool            `json:"was_cancelled"`
		Complete    *bool           `json:"is_complete"`
		Reason      string          `json:"incomplete_reason"`
		Start       string          `json:"start_time"`
		End         string          `json:"end_time"`
		Validity    json.RawMessage `json:"validity"`
		Info        struct {
			Command   string      `json:"cli_command"`
			Seed      json.Number `json:"random_seed"`
			Variation string      `json:"variation_label"`
			Series    string      `json:"sweep_id"`
		} `json:"run_info"`
		Errors []struct {
			Count   int64 `json:"count"`
			Details struct {
				Code    int    `json:"code"`
				Type    string `json:"type"`
				Message string `json:"message"`
			} `json:"error_details"`
		} `json:"error_summary"`
		Telemetry struct {
			Endpoints map[string]struct {
				GPUs map[string]json.RawMessage `json:"gpus"`
			} `json:"endpoints"`
		} `json:"telemetry_data"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return err
	}
	if len(known.Config) > 0 {
		whole, err := config.MergeInputConfig(known.Config, known.Own)
		if err == nil {
			err = json.Unmarshal(whole, &s.Config)
		}
		if err != nil {
			return err
		}
	}
	s.Version, s.BenchmarkID, s.Cancelled = known.Version, known.BenchmarkID, known.Cancelled
	s.IncompleteReason, s.Start, s.End, s.Command, s.Variation, s.Series = known.Reason, known.Start, known.End, known.Info.Command, known.Info.Variation, known.Info.Series
	s.RandomSeed = known.Info.Seed.String()
	s.Complete = known.Complete == nil || *known.Complete
	if len(known.Validity) > 0 && string(known.Validity) != "null" {
		s.Validity = known.Validity
		var v struct{ Bounds metric.Bounds }
		if err := json.Unmarshal(s.Validity, &v); err != nil {
			return fmt.Errorf("validity: %w", err)
		}
		s.Bounds = v.Bounds
	}
	for _, e := range known.Errors {
		s.Errors = append(s.Errors, ErrorGroup{e.Details.Code, e.Details.Type, e.Details.Message, e.Count})
	}
	for _, e := range known.Telemetry.Endpoints {
		s.GPUs += len(e.GPUs)
		for _, g := range e.GPUs {
			if idle(g) {
				s.IdleGPUs++
			}
		}
	}
	return s.figures(text)
}

// figures reads every top-level object that has a unit and a statistic.
func (s *Summary) figures(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if len(value) == 0 || value[0] != '{' {
			continue
		}
		var one map[string]any
		if json.Unmarshal(value, &one) != nil {
			continue
		}
		unit, ok := one["unit"].(string)
		if !ok {
			continue
		}
		f := &Figures{Unit: unit, Stats: map[string]float64{}}
		for stat, v := range one {
			if v, ok := v.(float64); ok {
				f.Stats[stat] = v
			}
		}
		if tag, _ := key.(string); len(f.Stats) > 0 {
			s.Tags, s.Figures[tag] = append(s.Tags, tag), f
		}
	}
	return nil
}

// Setting returns the setting at a dotted key as text; "" = none. A list with one element counts as that element.
func (s *Summary) Setting(key string) string {
	var at any = s.Config
	for part := range strings.SplitSeq(key, ".") {
		if list, ok := at.([]any); ok && len(list) > 0 {
			at = list[0]
		}
		m, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = m[part]
	}
	return settingText(at)
}

func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		if len(v) == 1 {
			return settingText(v[0])
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// Model returns the name of the first model.
func (s *Summary) Model() string {
	for _, key := range []string{"models.items.name", "endpoint.model_names", "model"} {
		if name := s.Setting(key); name != "" {
			return name
		}
	}
	return ""
}

// URLs returns the addresses of the servers; records name them by their index.
func (s *Summary) URLs() (list []string) {
	endpoint, _ := s.Config["endpoint"].(map[string]any)
	urls, _ := endpoint["urls"].([]any)
	for _, one := range urls {
		list = append(list, settingText(one))
	}
	return list
}

// Phase returns a setting of the measured phase: the last one that is not a warm-up.
func (s *Summary) Phase(key string) string {
	list, _ := s.Config["phases"].([]any)
	for i := len(list) - 1; i >= 0; i-- {
		if p, ok := list[i].(map[string]any); ok && p["kind"] != "warmup" {
			return settingText(p[key])
		}
	}
	old := map[string]string{"concurrency": "loadgen.concurrency", "rate": "loadgen.request_rate", "requests": "loadgen.request_count"}
	return s.Setting(old[key])
}

// Measured returns the names of the phases that are not warm-ups, in order.
func (s *Summary) Measured() []string {
	var names []string
	list, _ := s.Config["phases"].([]any)
	for _, one := range list {
		if p, ok := one.(map[string]any); ok && p["kind"] != "warmup" {
			names = append(names, settingText(p["name"]))
		}
	}
	return names
}

// Seconds returns the duration of the run from its summary; 0 = unknown.
func (s *Summary) Seconds() float64 {
	if v, ok := s.Stat("benchmark_duration", "avg"); ok {
		return v
	}
	from, err1 := time.Parse(time.RFC3339Nano, s.Start+"Z")
	to, err2 := time.Parse(time.RFC3339Nano, s.End+"Z")
	if err1 != nil || err2 != nil {
		return 0
	}
	return to.Sub(from).Seconds()
}

// Flat returns the settings by dotted key, formatted as by Setting.
func (s *Summary) Flat() map[string]string {
	out := map[string]string{}
	flatten(out, "", s.Config)
	return out
}

// FlatMeasured returns the settings as Flat does, without the warm-ups.
func (s *Summary) FlatMeasured() map[string]string {
	config := maps.Clone(s.Config)
	if list, ok := config["phases"].([]any); ok {
		config["phases"] = slices.DeleteFunc(slices.Clone(list), func(one any) bool {
			p, ok := one.(map[string]any)
			return ok && p["kind"] == "warmup"
		})
	}
	out := map[string]string{}
	flatten(out, "", config)
	return out
}

func flatten(out map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if at != "" {
				key = at + "." + key
			}
			flatten(out, key, inner)
		}
		return
	case []any:
		if len(v) == 1 {
			flatten(out, at, v[0])
			return
		}
	}
	if text := settingText(v); text != "" && at != "" {
		out[at] = text
	}
}
