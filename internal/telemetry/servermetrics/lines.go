package servermetrics

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/telemetry/exposition"
)

// appendLine writes a page as a line of server_metrics_export.jsonl, without constant information.
func appendLine(dst []byte, url string, s *snapshot, f Fetch) []byte {
	o := jsontext.Open(dst)
	o.Text("endpoint_url", url)
	o.Int("timestamp_ns", f.FirstByte)
	o.Int("endpoint_latency_ns", f.Done-f.Sent)
	o.Key("metrics")
	m := jsontext.Open(o.B)
	for _, one := range s.metrics {
		if one.info {
			continue
		}
		m.Key(one.name)
		m.B = append(m.B, '[')
		for i, sample := range one.samples {
			if i > 0 {
				m.B = append(m.B, ',')
			}
			m.B = sample.append(m.B, one.kind)
		}
		m.B = append(m.B, ']')
	}
	o.B = m.Close()
	o.Int("request_sent_ns", f.Sent)
	o.Int("first_byte_ns", f.FirstByte)
	if p := f.Phase; p != nil {
		kind := p.kind()
		o.Text("benchmark_phase", kind)
		o.Int("phase_index", int64(p.Index))
		if !p.Warmup {
			o.Int("profiling_index", int64(p.Profiling))
		}
		o.Text("phase_name", p.Name)
		o.Text("phase_kind", kind)
	}
	return append(o.Close(), '\n')
}

func (one *snapSample) append(dst []byte, kind Type) []byte {
	o := jsontext.Open(dst)
	appendLabels(&o, one.labels)
	if kind != exposition.Histogram {
		o.Float("value", one.value)
		return o.Close()
	}
	o.Key("buckets")
	b := jsontext.Open(o.B)
	for _, have := range one.buckets {
		b.Float(have.le, have.count)
	}
	o.B = b.Close()
	o.Float("sum", one.sum)
	o.Float("count", one.count)
	return o.Close()
}

// appendLabels writes labels, if there are any.
func appendLabels(o *jsontext.Object, labels []exposition.Label) {
	if len(labels) == 0 {
		return
	}
	o.Key("labels")
	l := jsontext.Open(o.B)
	for _, one := range labels {
		l.Text(one.Name, one.Value)
	}
	o.B = l.Close()
}
