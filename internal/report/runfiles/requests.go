package runfiles

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

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

	columns map[string][]float64
	gaps    [][]float64       // inter_chunk_latency, ms
	texts   map[string]string // each different text of Remote, Model and Finish once
}

// Len is the number of records.
func (q *Requests) Len() int { return len(q.Start) }

// Column returns a metric of every record, in the unit of the file; false if no record has it. For the gaps between messages, inter_chunk_latency,
// there are columns of statistics: _avg, _p50, _p95, _std, _min, _max, _range.
func (q *Requests) Column(tag string) ([]float64, bool) {
	v, ok := q.columns[tag]
	return v, ok
}

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
	q := &Requests{columns: map[string][]float64{}, texts: map[string]string{}}
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
	for tag := range q.columns {
		q.put(tag, q.Len()-1, math.NaN()) // makes all columns equally long
	}
	return q, nil
}

func (q *Requests) add(v *fastjson.Value) {
	i, md := q.Len(), v.Get("metadata")
	text := func(key string) string { return string(md.GetStringBytes(key)) }
	q.Start, q.End = append(q.Start, md.GetInt64("request_start_ns")), append(q.End, md.GetInt64("request_end_ns"))
	q.Issued, q.Due = append(q.Issued, md.GetInt64("credit_issued_ns")), append(q.Due, md.GetInt64("scheduled_ns"))
	q.Phase = append(q.Phase, cmp.Or(text("phase_name"), text("benchmark_phase")))
	q.Warmup, q.Cancelled = append(q.Warmup, text("benchmark_phase") == "warmup"), append(q.Cancelled, md.GetBool("was_cancelled"))
	q.Session, q.ID, q.Turn = append(q.Session, text("x_correlation_id")), append(q.ID, text("x_request_id")), append(q.Turn, md.GetInt("turn_index"))
	q.URL, q.Remote = append(q.URL, max(0, md.GetInt("url_index"))), append(q.Remote, q.text(v.GetStringBytes("trace_data", "remote_ip")))
	q.Model, q.Finish = append(q.Model, q.text(v.GetStringBytes("model"))), append(q.Finish, q.text(v.GetStringBytes("finish_reason")))
	failure, code := "", 0
	if e := v.Get("error"); e != nil && e.Type() == fastjson.TypeObject {
		failure, code = string(e.GetStringBytes("type")), e.GetInt("code")
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
			q.put(string(key), i, value.GetFloat64())
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

// put sets a value unless it is already set. Earlier records without a value get NaN.
func (q *Requests) put(tag string, i int, v float64) {
	c := q.columns[tag]
	for len(c) < i {
		c = append(c, math.NaN())
	}
	if len(c) == i {
		c = append(c, v)
	}
	q.columns[tag] = c
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
		q.put(GapColumns[k], i, value)
	}
}
