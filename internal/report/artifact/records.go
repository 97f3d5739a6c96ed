package artifact

import (
	"strconv"
	"sync"

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
	b = append(b, '{')
	members := metricMembers()
	row.Each(func(d *metric.Metric, v float64, list []float64) {
		if m := &members[d.Place]; list != nil {
			b = m.appendList(b, list)
		} else {
			b = append(m.appendValue(append(b, m.before...), v), m.after...)
		}
		some = true
	})
	if some {
		b = b[:len(b)-1] // the last comma
	}
	return append(b, '}'), some
}

// metricMember is the member of a metric in a line, but for its value.
type metricMember struct {
	before  string // name, and the name of the value
	after   string // unit, and a comma
	factor  float64
	integer bool // values need no conversion and stay integers
}

// metricMembers returns the members of all metrics, by their places.
var metricMembers = sync.OnceValue(func() []metricMember {
	all := metric.All()
	members := make([]metricMember, len(all))
	for i, d := range all {
		members[i] = metricMember{
			before: string(jsontext.AppendString(nil, d.Tag)) + `:{"value":`,
			after:  `,"unit":` + string(jsontext.AppendString(nil, d.Display)) + `},`,
			factor: d.Factor(), integer: d.Integer && d.Factor() == 1,
		}
	}
	return members
})

// appendList writes the member of a metric with several values.
func (m *metricMember) appendList(b []byte, list []float64) []byte {
	b = append(b, m.before...)
	for i, v := range list {
		b = m.appendValue(append(b, "[,"[min(i, 1)]), v)
	}
	return append(append(b, ']'), m.after...)
}

// appendValue writes a value in the display unit.
func (m *metricMember) appendValue(b []byte, v float64) []byte {
	if m.integer {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return jsontext.AppendFloat(b, v/m.factor)
}
