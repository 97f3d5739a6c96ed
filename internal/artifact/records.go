package artifact

import (
	"strconv"

	"aiperf/internal/metric"
	"aiperf/internal/record"
)

// Records writes the records JSONL: one line per request with its metadata and metrics.
type Records struct {
	*stream
	trace bool
}

// CreateRecords begins the file; trace adds the socket instants and headers of every request, which make
// it a file for its owner alone.
func CreateRecords(path string, trace bool) (*Records, error) {
	s, err := create(path, trace)
	return &Records{s, trace}, err
}

// Encode appends the line of a request.
func (w *Records) Encode(dst []byte, rec *record.Record, _ *record.Reply, row *metric.Row) []byte {
	mark := len(dst)
	o := open(dst)
	o.key("metadata")
	o.b = appendMetadata(o.b, rec)
	o.key("metrics")
	var some bool
	o.b, some = appendMetrics(o.b, row)
	if w.trace && rec.Trace != nil && !rec.Trace.Spans {
		o.key("trace_data")
		o.b = appendTrace(o.b, rec)
	}
	if row.Err != nil {
		o.key("error")
		o.b = appendError(o.b, row.Err)
	}
	if !some && row.Err == nil {
		return o.b[:mark] // nothing to tell
	}
	return append(o.close(), '\n')
}

// appendMetrics writes tag -> {value, unit}; some tells whether there was any.
func appendMetrics(b []byte, row *metric.Row) (out []byte, some bool) {
	m := open(b)
	row.Each(func(d *metric.Metric, v float64, list []float64) {
		m.key(d.Tag)
		m.b = append(m.b, `{"value":`...)
		if list != nil {
			for i, x := range list {
				m.b = append(m.b, "[,"[min(i, 1)])
				m.b = appendValue(m.b, d, x)
			}
			m.b = append(m.b, ']')
		} else {
			m.b = appendValue(m.b, d, v)
		}
		m.b = append(m.b, `,"unit":`...)
		m.b = append(appendString(m.b, d.Display), '}')
	})
	return m.close(), m.some
}

// appendValue writes a value in the display unit; whole numbers that need no conversion stay whole.
func appendValue(b []byte, m *metric.Metric, v float64) []byte {
	factor := m.Factor()
	if m.Integer && factor == 1 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return appendFloat(b, v/factor)
}
