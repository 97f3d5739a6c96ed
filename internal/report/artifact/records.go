package artifact

import (
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// Records writes the records JSONL: one line per request with its metadata and metrics.
type Records struct {
	*stream
	RecordOptions
}

// RecordOptions says what the lines contain besides metadata and metrics.
type RecordOptions struct {
	Trace  bool // socket instants and headers of every request; then only the owner can read the file
	Models bool // the requested model, for runs of several models
}

// CreateRecords creates the file.
func CreateRecords(path string, o RecordOptions) (*Records, error) {
	s, err := create(path, o.Trace)
	return &Records{s, o}, err
}

// Encode appends the line of a request.
func (w *Records) Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte {
	mark := len(dst)
	o := jsontext.Open(dst)
	o.Key("metadata")
	o.B = appendMetadata(o.B, rec)
	o.Key("metrics")
	var some bool
	o.B, some = appendMetrics(o.B, row)
	if rec.ClockOffset != 0 {
		o.Int("clock_offset_ns", rec.ClockOffset)
	}
	if w.Models {
		o.TextIfAny("model", rec.Model)
	}
	if reply != nil {
		o.TextIfAny("finish_reason", reply.FinishReason)
	}
	if w.Trace && rec.Trace != nil && !rec.Trace.Spans {
		o.Key("trace_data")
		o.B = appendTrace(o.B, rec)
	}
	if row.Drafts != nil {
		o.Key("spec_decode_acceptance")
		o.B = appendDrafts(o.B, row.Drafts)
	}
	if row.Uncounted != "" {
		o.Key("tokens_not_counted")
		o.B = jsontext.AppendString(o.B, row.Uncounted)
	}
	if row.Err != nil {
		o.Key("error")
		o.B = appendError(o.B, row.Err)
	}
	if !some && row.Err == nil {
		return o.B[:mark] // there is nothing to write
	}
	return append(o.Close(), '\n')
}

// appendMetrics writes tag -> {value, unit}; some reports whether there was any.
func appendMetrics(b []byte, row *metric.Row) (out []byte, some bool) {
	m := jsontext.Open(b)
	row.Each(func(d *metric.Metric, v float64, list []float64) {
		m.Key(d.Tag)
		m.B = append(m.B, `{"value":`...)
		if list != nil {
			for i, x := range list {
				m.B = append(m.B, "[,"[min(i, 1)])
				m.B = appendValue(m.B, d, x)
			}
			m.B = append(m.B, ']')
		} else {
			m.B = appendValue(m.B, d, v)
		}
		m.B = append(m.B, `,"unit":`...)
		m.B = append(jsontext.AppendString(m.B, d.Display), '}')
	})
	return m.Close(), m.Any()
}

// appendValue writes a value in the display unit; integers that need no conversion stay integers.
func appendValue(b []byte, m *metric.Metric, v float64) []byte {
	factor := m.Factor()
	if m.Integer && factor == 1 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return jsontext.AppendFloat(b, v/factor)
}
