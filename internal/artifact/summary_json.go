package artifact

import (
	"strconv"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/redact"
)

// SchemaVersion of the summary JSON.
const SchemaVersion = "1.4"

// declared are the metrics that stand before everything else in the summary, in this order.
var declared = []string{
	"request_throughput", "request_latency", "request_count", "time_to_first_token", "time_to_second_token", "inter_token_latency",
	"output_token_throughput", "output_token_throughput_per_user", "output_sequence_length", "input_sequence_length", "goodput",
	"good_request_count", "output_token_count", "reasoning_token_count", "min_request_timestamp", "max_response_timestamp",
	"inter_chunk_latency", "total_output_tokens", "total_reasoning_tokens", "benchmark_duration", "total_isl", "total_osl",
	"error_request_count", "error_isl", "total_error_isl",
}

// WriteSummaryJSON writes the summary of a run without the secrets.
func WriteSummaryJSON(path string, run *metric.Run, hide *redact.Secrets) error {
	data, err := SummaryJSON(run)
	if err != nil {
		return err
	}
	return WriteFile(path, hide.JSON(data))
}

// SummaryJSON is the summary of a run: two blanks of indentation, no line end at the end.
func SummaryJSON(run *metric.Run) ([]byte, error) {
	o := open(nil)
	o.str("schema_version", SchemaVersion)
	o.text("aiperf_version", run.Version)
	o.text("benchmark_id", run.BenchmarkID)
	first := map[string]bool{}
	for _, tag := range declared {
		first[tag] = true
		if r, ok := run.Profiling.Get(tag); ok && !r.Hidden() {
			appendResult(&o, &r)
		}
	}
	appendTelemetry(&o, run)
	o.raw("input_config", orEmpty(run.InputConfig))
	info, err := plain(run.Info)
	if err != nil {
		return nil, err
	}
	o.raw("run_info", info)
	o.bool("was_cancelled", run.Cancelled)
	o.bool("is_complete", run.IncompleteReason == "")
	o.text("incomplete_reason", run.IncompleteReason)
	appendErrors(&o, run.Profiling.Errors)
	o.text("start_time", isoTime(run.Start))
	o.text("end_time", isoTime(run.End))
	if run.Warmup != nil {
		o.key("warmup_metrics")
		w := open(o.b)
		for _, r := range run.Warmup.Shown() {
			appendResult(&w, &r)
		}
		o.b = w.close()
	}
	if p := run.Profiling.Window; p.To > p.From {
		o.key("window")
		w := open(o.b)
		w.int("start_ns", p.From)
		w.int("end_ns", p.To)
		o.b = w.close()
	}
	if run.Validity != nil {
		o.key("validity")
		o.b = appendValidity(o.b, run.Validity)
	}
	for _, r := range run.Profiling.Shown() {
		if !first[r.Tag] {
			appendResult(&o, &r)
		}
	}
	return indented(o.close())
}

// appendResult writes a metric object: unit, then the statistics that exist.
func appendResult(o *object, r *metric.Result) {
	o.key(r.Tag)
	m := open(o.b)
	m.str("unit", r.Display)
	for s := metric.Avg; s < metric.Stats; s++ {
		switch {
		case !r.Has(s):
		case s == metric.Count:
			m.int(s.String(), int64(r.Values[s]))
		default:
			m.float(s.String(), r.Values[s])
		}
	}
	o.b = m.close()
}

func appendErrors(o *object, groups []metric.ErrorGroup) {
	o.key("error_summary")
	o.b = append(o.b, '[')
	for i := range groups {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, `{"error_details":`...)
		o.b = appendError(o.b, &groups[i].Error)
		o.b = append(o.b, `,"count":`...)
		o.b = append(strconv.AppendInt(o.b, groups[i].Count, 10), '}')
	}
	o.b = append(o.b, ']')
}

// appendTelemetry writes the GPU telemetry; the empty object of a run that looked for GPUs and found none.
func appendTelemetry(o *object, run *metric.Run) {
	if run.Telemetry != nil {
		o.raw("telemetry_data", run.Telemetry)
		return
	}
	if run.TelemetryEndpoints == nil {
		return
	}
	o.key("telemetry_data")
	t := open(o.b)
	t.key("summary")
	s := open(t.b)
	s.key("endpoints_configured")
	s.b = append(s.b, '[')
	for i, e := range run.TelemetryEndpoints {
		if i > 0 {
			s.b = append(s.b, ',')
		}
		s.b = appendString(s.b, e)
	}
	s.b = append(s.b, ']')
	s.raw("endpoints_successful", []byte("[]"))
	s.text("start_time", isoTime(run.Start))
	s.text("end_time", isoTime(run.End))
	t.b = s.close()
	t.raw("endpoints", []byte("{}"))
	t.raw("error_summary", []byte("[]"))
	o.b = t.close()
}

func orEmpty(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// isoTime is a local time with microseconds and without a zone; "" for no time.
func isoTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.Local()
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}
