package servermetrics

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/telemetry"
)

// PhaseJSON returns the member "data" of phases/NAME/server_metrics.json, with the keys of ServerMetricsResults of the Python tool. r must cover the
// phase.
func (r *Results) PhaseJSON(h *Head, p *Phase) []byte {
	o := jsontext.Open(nil)
	o.TextIfAny("benchmark_id", h.BenchmarkID)
	pages := r.pages()
	o.Key("endpoint_summaries")
	all := jsontext.Open(o.B)
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		all.Key(telemetry.Name(e.URL))
		one := jsontext.Open(all.B)
		one.Text("endpoint_url", e.URL)
		one.Key("info")
		one.B = e.append(one.B)
		r.ofEndpoint(e.URL).appendMetrics(&one, "metrics")
		all.B = one.Close()
	}
	o.B = all.Close()
	o.Texts("endpoints_configured", h.Configured)
	o.Texts("endpoints_successful", h.Successful)
	appendLost(&o, h.Lost)
	kind := p.kind()
	o.Text("phase", kind)
	o.Int("phase_index", int64(p.Index))
	o.Text("phase_kind", kind)
	o.Text("phase_name", p.Name)
	o.Raw("phase_results", []byte("[]"))
	if !p.Warmup {
		o.Int("profiling_index", int64(p.Profiling))
	}
	o.Int("start_ns", pages.From)
	o.Int("end_ns", pages.To)
	return o.Close()
}

// kind returns the name of the phase's kind in files.
func (p *Phase) kind() string {
	if p.Warmup {
		return "warmup"
	}
	return "profiling"
}

// pages returns the time from the first page to the last, of all endpoints.
func (r *Results) pages() (w Window) {
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		if i == 0 || e.FirstFetch < w.From {
			w.From = e.FirstFetch
		}
		w.To = max(w.To, e.LastFetch)
	}
	return w
}

// ofEndpoint returns the figures of one endpoint; their series omit its URL.
func (r *Results) ofEndpoint(url string) *Results {
	one := &Results{}
	for _, m := range r.Metrics {
		own := m
		own.Series = nil
		for _, s := range m.Series {
			if s.URL == url {
				s.URL = ""
				own.Series = append(own.Series, s)
			}
		}
		if own.Series != nil {
			one.Metrics = append(one.Metrics, own)
		}
	}
	return one
}

// appendLost writes the lost readings, grouped as in the Python tool.
func appendLost(o *jsontext.Object, list []LostReading) {
	o.Key("error_summary")
	o.B = append(o.B, '[')
	for i, l := range list {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		one := jsontext.Open(o.B)
		one.Key("error_details")
		e := jsontext.Open(one.B)
		e.Text("type", l.Type)
		e.Text("message", l.Message)
		one.B = e.Close()
		one.Int("count", l.Count)
		o.B = one.Close()
	}
	o.B = append(o.B, ']')
}
