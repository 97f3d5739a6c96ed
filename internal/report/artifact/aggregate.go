package artifact

import (
	"bytes"
	"encoding/csv"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// aggregateVersion is the schema version of the aggregate JSON.
const aggregateVersion = "1.0"

// WriteAggregate writes the statistics over several runs into a directory, as JSON and CSV.
func WriteAggregate(dir string, r *metric.RepeatSummary) error {
	data, err := aggregateJSON(r)
	if err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(dir, "profile_export_aiperf_aggregate.json"), data); err != nil {
		return err
	}
	data, err = aggregateCSV(r)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, "profile_export_aiperf_aggregate.csv"), data)
}

func aggregateJSON(r *metric.RepeatSummary) ([]byte, error) {
	o := jsontext.Open(nil)
	o.Text("schema_version", aggregateVersion)
	o.TextIfAny("aiperf_version", r.Version)
	o.Key("metadata")
	var err error
	if o.B, err = appendRepeated(o.B, r); err != nil {
		return nil, err
	}
	o.Key("metrics")
	m := jsontext.Open(o.B)
	for i := range r.Values {
		v := &r.Values[i]
		m.Key(v.Name())
		m.B = appendInterval(m.B, v)
	}
	o.B = m.Close()
	return jsontext.Indent(o.Close())
}

func appendRepeated(b []byte, r *metric.RepeatSummary) ([]byte, error) {
	o := jsontext.Open(b)
	o.Text("aggregation_type", "confidence")
	o.Int("num_profile_runs", int64(r.Runs))
	o.Int("num_successful_runs", int64(len(r.Labels)))
	o.Key("failed_runs")
	o.B = appendFailed(o.B, r.Failed)
	o.Float("confidence_level", r.Confidence)
	o.Texts("run_labels", r.Labels)
	if len(r.Labels) == 1 {
		o.Bool("single_run", true)
	}
	o.Float("cooldown_seconds", r.Cooldown)
	if v := r.Convergence; v != nil {
		o.Key("convergence")
		c := jsontext.Open(o.B)
		c.Bool("converged", v.Reached)
		c.Text("metric", v.Metric)
		c.TextIfAny("stat", v.Stat)
		c.Text("mode", v.Mode)
		c.Float("threshold", v.Limit)
		if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
			c.Float("value", v.Value)
		}
		c.Int("num_runs", int64(v.Runs))
		c.Text("summary", v.Sentence)
		o.B = c.Close()
	}
	if r.Cell != nil {
		values, err := appendNamed(nil, r.Cell.Values)
		if err != nil {
			return nil, err
		}
		o.Text("variation_label", r.Cell.Label)
		o.Raw("variation_values", values)
		o.Text("sweep_mode", r.Mode)
		o.TextIfAny("model", r.Cell.Model)
	}
	if s := r.Submission; s != nil {
		o.Text("scenario", s.Scenario)
		o.Bool("submission_valid", s.Valid)
		if len(s.Reasons) > 0 {
			o.Texts("submission_invalid_reasons", s.Reasons)
		}
	}
	return o.Close(), nil
}

// appendFailed writes the list of runs without a result.
func appendFailed(b []byte, failed []metric.FailedRun) []byte {
	b = append(b, '[')
	for i, f := range failed {
		if i > 0 {
			b = append(b, ',')
		}
		e := jsontext.Open(b)
		e.Text("label", f.Label)
		e.Text("error", f.Error)
		e.TextIfAny("variation_label", f.Variation)
		b = e.Close()
	}
	return append(b, ']')
}

// appendInterval writes one statistic without the values that are not finite.
func appendInterval(b []byte, v *metric.RepeatValue) []byte {
	o := jsontext.Open(b)
	for _, f := range intervalFields(v) {
		if !math.IsNaN(f.value) && !math.IsInf(f.value, 0) {
			o.Float(f.name, f.value)
		}
	}
	o.Text("unit", v.Display)
	return o.Close()
}

type intervalField struct {
	name     string
	value    float64
	decimals int // number of decimals in the CSV
}

func intervalFields(v *metric.RepeatValue) []intervalField {
	return []intervalField{
		{"mean", v.Mean, 2}, {"std", v.Std, 2}, {"min", v.Min, 2}, {"max", v.Max, 2}, {"cv", v.CV, 4}, {"se", v.SE, 4},
		{"ci_low", v.Low, 2}, {"ci_high", v.High, 2}, {"t_critical", v.T, 4},
	}
}

func aggregateCSV(r *metric.RepeatSummary) ([]byte, error) {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	var rows [][]string
	for i := range r.Values {
		v := &r.Values[i]
		row, head := []string{v.Name()}, []string{"metric"}
		for _, f := range intervalFields(v) {
			head = append(head, f.name)
			row = append(row, decimals(f.value, f.decimals))
		}
		if i == 0 {
			rows = append(rows, append(head, "unit"))
		}
		rows = append(rows, append(row, v.Display))
	}
	if err := c.WriteAll(rows); err != nil {
		return nil, err
	}
	b.WriteString("\r\n")
	labels := make([]string, len(r.Labels))
	for i, l := range r.Labels {
		labels[i] = "'" + l + "'"
	}
	about := [][]string{
		{"Aggregation Type", "confidence"},
		{"Total Runs", strconv.Itoa(r.Runs)},
		{"Successful Runs", strconv.Itoa(len(r.Labels))},
		{"Confidence Level", string(jsontext.AppendFloat(nil, r.Confidence))},
		{"Run Labels", "[" + strings.Join(labels, ", ") + "]"},
	}
	if len(r.Labels) == 1 {
		about = append(about, []string{"Single Run", "True"})
	}
	about = append(about, []string{"Cooldown Seconds", string(jsontext.AppendFloat(nil, r.Cooldown))})
	if r.Convergence != nil {
		about = append(about, []string{"Convergence", r.Convergence.Sentence})
	}
	if r.Cell != nil {
		var values []string
		for _, v := range r.Cell.Values {
			values = append(values, pyText(v.Name, true)+": "+pyText(v.Value, true))
		}
		about = append(about, []string{"Variation Label", r.Cell.Label}, []string{"Variation Values", "{" + strings.Join(values, ", ") + "}"},
			[]string{"Sweep Mode", r.Mode}, []string{"Model", r.Cell.Model})
	}
	err := c.WriteAll(about)
	return b.Bytes(), err
}

// decimals formats a number with n decimals; "inf" for infinity, empty for NaN.
func decimals(v float64, n int) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 0):
		return "inf"
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}
