package servermetrics

import (
	"encoding/json"
	"math"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// Versions of the file layouts.
const (
	jsonSchema = "1.1"
	textSchema = "1.0" // of CSV and Parquet
)

// Head is the information about the run in the files, besides the figures.
type Head struct {
	Version      string // of this program
	BenchmarkID  string
	Configured   []string // all configured URLs
	Successful   []string // URLs that answered
	Start, End   string   // of the profiling phases, in the format of the summary
	Window       Window   // of the profiling phases, wall, ns
	Warmup       *Results // figures of the warm-up; nil = there was none
	WarmupWindow Window
	InputConfig  json.RawMessage
	Lost         []LostReading // readings that were lost
	Models       []string
	Concurrency  int     // 0 = not fixed
	RequestRate  float64 // requests per second; 0 = none
}

// LostReading is a kind of lost reading at an endpoint, with its number.
type LostReading struct {
	Type, Message string
	Count         int64
}

// JSON returns server_metrics_export.json.
func (r *Results) JSON(h *Head) ([]byte, error) {
	o := jsontext.Open(nil)
	o.Text("schema_version", jsonSchema)
	o.TextIfAny("aiperf_version", h.Version)
	o.TextIfAny("benchmark_id", h.BenchmarkID)
	o.Key("summary")
	o.B = r.appendSummary(o.B, h)
	o.Text("metrics_phase", "profiling")
	r.appendMetrics(&o, "metrics")
	if h.Warmup != nil && len(h.Warmup.Metrics) > 0 {
		h.Warmup.appendMetrics(&o, "warmup_metrics")
	}
	if len(h.InputConfig) > 0 {
		o.Raw("input_config", h.InputConfig)
	}
	return jsontext.Indent(o.Close())
}

// appendMetrics writes the figures of all metrics under a key.
func (r *Results) appendMetrics(o *jsontext.Object, key string) {
	o.Key(key)
	all := jsontext.Open(o.B)
	for i := range r.Metrics {
		m := &r.Metrics[i]
		all.Key(m.Name)
		all.B = m.append(all.B)
	}
	o.B = all.Close()
}

// append writes a window under a key.
func (w *Window) append(o *jsontext.Object, key string) {
	o.Key(key)
	p := jsontext.Open(o.B)
	p.Int("start_ns", w.From)
	p.Int("end_ns", w.To)
	o.B = p.Close()
}

func (r *Results) appendSummary(dst []byte, h *Head) []byte {
	s := jsontext.Open(dst)
	s.Texts("endpoints_configured", h.Configured)
	s.Texts("endpoints_successful", h.Successful)
	s.TextIfAny("start_time", h.Start)
	s.TextIfAny("end_time", h.End)
	s.Key("endpoint_info")
	all := jsontext.Open(s.B)
	for _, e := range r.Endpoints {
		all.Key(e.URL)
		all.B = e.append(all.B)
	}
	s.B = all.Close()
	s.Key("phase_time_ranges")
	ranges := jsontext.Open(s.B)
	h.Window.append(&ranges, "profiling")
	if h.Warmup != nil {
		h.WarmupWindow.append(&ranges, "warmup")
	}
	s.B = ranges.Close()
	if len(h.Lost) > 0 {
		s.Key("error_summary")
		s.B = append(s.B, '[')
		for i, l := range h.Lost {
			if i > 0 {
				s.B = append(s.B, ',')
			}
			e := jsontext.Open(s.B)
			e.Text("type", l.Type)
			e.Text("message", l.Message)
			e.Int("count", l.Count)
			s.B = e.Close()
		}
		s.B = append(s.B, ']')
	}
	return s.Close()
}

// append writes the information about an endpoint.
func (e *EndpointInfo) append(dst []byte) []byte {
	i := jsontext.Open(dst)
	i.Int("total_fetches", int64(e.Fetches))
	i.Int("first_fetch_ns", e.FirstFetch)
	i.Int("last_fetch_ns", e.LastFetch)
	i.Float("avg_fetch_latency_ms", e.MeanLatency)
	i.Int("unique_updates", int64(e.Updates))
	i.Int("first_update_ns", e.FirstUpdate)
	i.Int("last_update_ns", e.LastUpdate)
	i.Float("duration_seconds", float64(e.LastUpdate-e.FirstUpdate)/1e9)
	i.Float("avg_update_interval_ms", e.MeanInterval)
	if !math.IsNaN(e.MedianInterval) {
		i.Float("median_update_interval_ms", e.MedianInterval)
	}
	return i.Close()
}

func (m *Metric) append(dst []byte) []byte {
	o := jsontext.Open(dst)
	o.Text("type", string(m.Type))
	o.Text("description", m.Help)
	o.TextIfAny("unit", m.Unit)
	o.Key("series")
	o.B = append(o.B, '[')
	for i := range m.Series {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = m.Series[i].append(o.B)
	}
	o.B = append(o.B, ']')
	return o.Close()
}

func (s *Series) append(dst []byte) []byte {
	o := jsontext.Open(dst)
	o.TextIfAny("endpoint_url", s.URL)
	appendLabels(&o, s.Labels)
	o.Key("stats")
	st := jsontext.Open(o.B)
	appendStats(&st, s.Stats)
	o.B = st.Close()
	appendBuckets(&o, s.Buckets)
	if len(s.Slices) > 0 {
		o.Key("timeslices")
		o.B = append(o.B, '[')
		for i := range s.Slices {
			if i > 0 {
				o.B = append(o.B, ',')
			}
			one := &s.Slices[i]
			t := jsontext.Open(o.B)
			t.Int("start_ns", one.Start)
			t.Int("end_ns", one.End)
			if one.Partial {
				t.Bool("is_complete", false)
			}
			appendStats(&t, one.Stats)
			appendBuckets(&t, one.Buckets)
			o.B = t.Close()
		}
		o.B = append(o.B, ']')
	}
	return o.Close()
}

func appendStats(o *jsontext.Object, list []Stat) {
	for _, s := range list {
		if s.Whole {
			o.Int(s.Key, int64(s.Value))
		} else {
			o.Float(s.Key, s.Value)
		}
	}
}

func appendBuckets(o *jsontext.Object, list []Count) {
	if list == nil {
		return
	}
	o.Key("buckets")
	b := jsontext.Open(o.B)
	for _, c := range list {
		b.Int(c.Le, c.N)
	}
	o.B = b.Close()
}

// text formats a figure for the CSV: four decimals, counts without.
func (s *Stat) text() string {
	if s.Whole {
		return strconv.FormatInt(int64(s.Value), 10)
	}
	return strconv.FormatFloat(s.Value, 'f', 4, 64)
}
