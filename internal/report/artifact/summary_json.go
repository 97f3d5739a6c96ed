package artifact

import (
	"math"
	"strconv"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// SchemaVersion is the schema version of the summary JSON.
const SchemaVersion = "1.4"

// declared lists the metrics that come first in the summary, in this order.
var declared = []string{
	"request_throughput", "request_latency", "request_count", "time_to_first_token", "time_to_second_token", "inter_token_latency",
	"output_token_throughput", "output_token_throughput_per_user", "output_sequence_length", "input_sequence_length", "goodput",
	"good_request_count", "output_token_count", "reasoning_token_count", "min_request_timestamp", "max_response_timestamp",
	"inter_chunk_latency", "total_output_tokens", "total_reasoning_tokens", "benchmark_duration", "total_isl", "total_osl",
	"error_request_count", "error_isl", "total_error_isl",
}

// WriteSummaryJSON writes the summary of a run without the secrets in hide.
func WriteSummaryJSON(path string, run *metric.Run, hide *redact.Secrets) error {
	data, err := SummaryJSON(run)
	if err != nil {
		return err
	}
	return WriteFile(path, hide.JSON(data))
}

// SummaryJSON returns the summary of a run, indented by two blanks, without a newline at the end.
func SummaryJSON(run *metric.Run) ([]byte, error) {
	o := jsontext.Open(nil)
	o.Text("schema_version", SchemaVersion)
	o.TextIfAny("aiperf_version", run.Version)
	o.TextIfAny("benchmark_id", run.BenchmarkID)
	first := map[string]bool{}
	for _, tag := range declared {
		first[tag] = true
		if r, ok := run.Profiling.Get(tag); ok && !r.Hidden() {
			appendResult(&o, &r)
		}
	}
	appendTelemetry(&o, run.GPU)
	o.Raw("input_config", orEmpty(run.InputConfig))
	info, err := jsontext.Marshal(run.Info)
	if err != nil {
		return nil, err
	}
	o.Raw("run_info", info)
	o.Bool("was_cancelled", run.Cancelled)
	o.Bool("is_complete", run.IncompleteReason == "")
	o.TextIfAny("incomplete_reason", run.IncompleteReason)
	appendErrors(&o, run.Profiling.Errors)
	o.TextIfAny("start_time", LocalTime(run.Start))
	o.TextIfAny("end_time", LocalTime(run.End))
	if run.Branches != nil {
		raw, err := jsontext.Marshal(run.Branches)
		if err != nil {
			return nil, err
		}
		o.Raw("branch_stats", raw)
	}
	if run.Warmup != nil {
		o.Key("warmup_metrics")
		w := jsontext.Open(o.B)
		for _, r := range run.Warmup.Shown() {
			appendResult(&w, &r)
		}
		o.B = w.Close()
	}
	if steps := run.Profiling.DraftSteps; steps != nil {
		o.Key("pooled_spec_decode_acceptance_histogram")
		o.B = appendBuckets(o.B, steps)
	}
	if p := run.Profiling.Window; p.To > p.From {
		o.Key("window")
		w := jsontext.Open(o.B)
		w.Int("start_ns", p.From)
		w.Int("end_ns", p.To)
		o.B = w.Close()
	}
	if len(run.OwnConfig) > 0 {
		o.Raw("own_config", run.OwnConfig)
	}
	if run.Validity != nil {
		o.Key("validity")
		o.B = appendValidity(o.B, run.Validity)
	}
	if run.Probe != nil {
		raw, err := jsontext.Marshal(run.Probe)
		if err != nil {
			return nil, err
		}
		o.Raw("probe", raw)
	}
	for _, r := range run.Profiling.Shown() {
		if !first[r.Tag] {
			appendResult(&o, &r)
		}
	}
	appendAccuracy(&o, run.Accuracy)
	if run.Submission != nil {
		raw, err := jsontext.Marshal(run.Submission)
		if err != nil {
			return nil, err
		}
		o.Raw("metadata", raw)
	}
	return jsontext.Indent(o.Close())
}

// appendResult writes a metric object.
func appendResult(o *jsontext.Object, r *metric.Result) { appendStats(o, r.Tag, r.Display, &r.Values) }

// appendStats writes an object of statistics: the unit, then the statistics that exist.
func appendStats(o *jsontext.Object, key, unit string, values *[metric.Stats]float64) {
	o.Key(key)
	m := jsontext.Open(o.B)
	m.Text("unit", unit)
	for s := metric.Avg; s < metric.Stats; s++ {
		switch v := values[s]; {
		case math.IsNaN(v) || math.IsInf(v, 0):
		case s == metric.Count:
			m.Int(s.String(), int64(v))
		default:
			m.Float(s.String(), v)
		}
	}
	o.B = m.Close()
}

// appendBuckets writes the buckets that are not empty, with their numbers as keys.
func appendBuckets(b []byte, buckets []int64) []byte {
	o := jsontext.Open(b)
	for i, n := range buckets {
		if n != 0 {
			o.Int(strconv.Itoa(i), n)
		}
	}
	return o.Close()
}

// appendDrafts writes the server's counters of speculative decoding under the names of the Python tool.
func appendDrafts(b []byte, d *record.Drafts) []byte {
	o := jsontext.Open(b)
	o.Text("engine", "vllm")
	if d.Steps > 0 {
		o.Float("mean_acceptance_length", 1+float64(d.Accepted)/float64(d.Steps))
	}
	if d.Proposed > 0 {
		o.Float("draft_acceptance_rate", float64(d.Accepted)/float64(d.Proposed))
	}
	o.Key("acceptance_histogram")
	o.B = appendBuckets(o.B, d.Buckets)
	o.Int("num_accepted_draft_tokens", d.Accepted)
	o.Int("num_draft_tokens", d.Proposed)
	o.Int("num_spec_steps", d.Steps)
	o.Int("num_spec_tokens", int64(len(d.Buckets)-1))
	return o.Close()
}

func appendErrors(o *jsontext.Object, groups []metric.ErrorGroup) {
	o.Key("error_summary")
	o.B = append(o.B, '[')
	for i := range groups {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = append(o.B, `{"error_details":`...)
		o.B = appendError(o.B, &groups[i].Error)
		o.B = append(o.B, `,"count":`...)
		o.B = append(strconv.AppendInt(o.B, groups[i].Count, 10), '}')
	}
	o.B = append(o.B, ']')
}

func orEmpty(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// LocalTime formats a local time with microseconds and without a zone; "" for the zero time.
func LocalTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.Local()
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}
