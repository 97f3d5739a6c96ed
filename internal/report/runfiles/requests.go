package runfiles

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/stats"
)

// Requests holds the records of a run as columns, one value per record; NaN = the record has none.
type Requests struct {
	Start, End []int64  // wall clock, ns
	Due        []int64  // when the request was due; 0 = no schedule
	Issued     []int64  // when its turn began; 0 = unknown
	Phase      []string // name of the phase
	Warmup     []bool
	Cancelled  []bool
	Session    []string
	ID         []string
	Turn       []int
	Failure    []string // the error, "" = none
	Code       []int
	URL        []int    // position of the server's URL in the settings
	Remote     []string // address of the server, "" = unknown
	Model      []string // "" = the only one of the run
	Finish     []string // why the answer ended, "" = unknown

	columns map[string]*stats.Column
	gaps    [][]float64       // inter_chunk_latency, ms
	texts   map[string]string // each different text of Phase, Remote, Model and Finish once
	block   strings.Builder   // ids: one allocation for many
}

// Len is the number of records.
func (q *Requests) Len() int { return len(q.Start) }

// Column returns a copy of a metric of every record, in the unit of the file; false if no record has it. For the gaps between messages,
// inter_chunk_latency, there are columns of statistics: _avg, _p50, _p95, _std, _min, _max, _range.
func (q *Requests) Column(tag string) ([]float64, bool) {
	c := q.columns[tag]
	if c == nil {
		return nil, false
	}
	return c.AppendTo(make([]float64, 0, c.Len())), true
}

// Has reports whether a record has a metric.
func (q *Requests) Has(tag string) bool { return q.columns[tag] != nil }

// Columns returns the names of the columns, sorted.
func (q *Requests) Columns() []string {
	var list []string
	for name := range q.columns {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Gaps returns the times between the messages of a record, in ms.
func (q *Requests) Gaps(i int) []float64 { return q.gaps[i] }

// gapTag is the only metric of records that is a list.
const gapTag = "inter_chunk_latency"

// GapColumns lists the columns computed from the gaps of a record.
var GapColumns = []string{gapTag + "_avg", gapTag + "_p50", gapTag + "_p95", gapTag + "_std", gapTag + "_min", gapTag + "_max", gapTag + "_range"}

func (r *Run) readRequests() (*Requests, error) {
	q := &Requests{columns: map[string]*stats.Column{}, texts: map[string]string{}}
	err := r.lines(recordsFile, func(v *fastjson.Value) error {
		q.add(v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.Len() == 0 {
		return nil, fmt.Errorf("%s has no records", filepath.Join(r.Dir, recordsFile))
	}
	for _, c := range q.columns {
		c.Pad(q.Len(), math.NaN())
	}
	return q, nil
}

func (q *Requests) add(v *fastjson.Value) {
	i, md := q.Len(), v.Get("metadata")
	phase := q.text(md.GetStringBytes("benchmark_phase"))
	q.Start, q.End = append(q.Start, md.GetInt64("request_start_ns")), append(q.End, md.GetInt64("request_end_ns"))
	q.Issued, q.Due = append(q.Issued, md.GetInt64("credit_issued_ns")), append(q.Due, md.GetInt64("scheduled_ns"))
	q.Phase = append(q.Phase, cmp.Or(q.text(md.GetStringBytes("phase_name")), phase))
	q.Warmup, q.Cancelled = append(q.Warmup, phase == "warmup"), append(q.Cancelled, md.GetBool("was_cancelled"))
	q.Session, q.ID = append(q.Session, q.id(md.GetStringBytes("x_correlation_id"))), append(q.ID, q.id(md.GetStringBytes("x_request_id")))
	q.Turn = append(q.Turn, md.GetInt("turn_index"))
	q.URL, q.Remote = append(q.URL, max(0, md.GetInt("url_index"))), append(q.Remote, q.text(v.GetStringBytes("trace_data", "remote_ip")))
	q.Model, q.Finish = append(q.Model, q.text(v.GetStringBytes("model"))), append(q.Finish, q.text(v.GetStringBytes("finish_reason")))
	failure, code := "", 0
	if e := v.Get("error"); e != nil && e.Type() == fastjson.TypeObject {
		failure, code = q.text(e.GetStringBytes("type")), e.GetInt("code")
		if failure == "" {
			failure = "error"
		}
	}
	q.Failure, q.Code, q.gaps = append(q.Failure, failure), append(q.Code, code), append(q.gaps, nil)
	v.GetObject("metrics").Visit(func(key []byte, m *fastjson.Value) {
		value := m.Get("value")
		if value == nil {
			value = m // a number without a unit
		}
		switch value.Type() {
		case fastjson.TypeNumber:
			q.put(key, i, value.GetFloat64())
		case fastjson.TypeArray:
			if string(key) == gapTag {
				q.putGaps(i, value.GetArray())
			}
		}
	})
}

// text returns a text that few requests have on their own.
func (q *Requests) text(b []byte) string {
	if s, ok := q.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	q.texts[s] = s
	return s
}

// blockSize is the number of bytes of ids that are allocated together.
const blockSize = 64 << 10

// id returns a text that hardly any other request has.
func (q *Requests) id(b []byte) string {
	if q.block.Cap()-q.block.Len() < len(b) {
		q.block = strings.Builder{}
		q.block.Grow(max(blockSize, len(b)))
	}
	from := q.block.Len()
	q.block.Write(b)
	return q.block.String()[from:]
}

// put sets a value unless it is already set. Earlier records without a value get NaN.
func (q *Requests) put(tag []byte, i int, v float64) {
	c := q.columns[string(tag)]
	if c == nil {
		c = new(stats.Column)
		q.columns[string(tag)] = c
	}
	if c.Pad(i, math.NaN()); c.Len() == i {
		c.Append(v)
	}
}

func (q *Requests) putGaps(i int, list []*fastjson.Value) {
	if len(list) == 0 {
		return
	}
	v := make([]float64, len(list))
	for k, one := range list {
		v[k] = one.GetFloat64()
	}
	q.gaps[i] = v
	sorted := slices.Sorted(slices.Values(v))
	low, high := sorted[0], sorted[len(sorted)-1]
	for k, value := range []float64{
		stats.Mean(v), stats.Percentile(sorted, 50), stats.Percentile(sorted, 95), stats.PopulationStd(v), low, high, high - low,
	} {
		q.put([]byte(GapColumns[k]), i, value)
	}
}
