package artifact

import (
	"bytes"
	"encoding/csv"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/metric"
)

// aggregateVersion is the schema of the aggregate JSON.
const aggregateVersion = "1.0"

// WriteAggregate writes what several runs add up to into a directory, as JSON and CSV.
func WriteAggregate(dir string, r *metric.Repeated) error {
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

func aggregateJSON(r *metric.Repeated) ([]byte, error) {
	o := open(nil)
	o.str("schema_version", aggregateVersion)
	o.text("aiperf_version", r.Version)
	o.key("metadata")
	o.b = appendRepeated(o.b, r)
	o.key("metrics")
	m := open(o.b)
	for i := range r.Values {
		v := &r.Values[i]
		m.key(v.Name())
		m.b = appendInterval(m.b, v)
	}
	o.b = m.close()
	return indented(o.close())
}

func appendRepeated(b []byte, r *metric.Repeated) []byte {
	o := open(b)
	o.str("aggregation_type", "confidence")
	o.int("num_profile_runs", int64(r.Runs))
	o.int("num_successful_runs", int64(len(r.Labels)))
	o.key("failed_runs")
	o.b = append(o.b, '[')
	for i, f := range r.Failed {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		e := open(o.b)
		e.str("label", f.Label)
		e.str("error", f.Error)
		o.b = e.close()
	}
	o.b = append(o.b, ']')
	o.float("confidence_level", r.Confidence)
	o.key("run_labels")
	o.b = append(o.b, '[')
	for i, l := range r.Labels {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, l)
	}
	o.b = append(o.b, ']')
	if len(r.Labels) == 1 {
		o.bool("single_run", true)
	}
	o.float("cooldown_seconds", r.Cooldown)
	return o.close()
}

// appendInterval writes one statistic; what is not finite is left out.
func appendInterval(b []byte, v *metric.RepeatedValue) []byte {
	o := open(b)
	for _, f := range intervalFields(v) {
		if !math.IsNaN(f.value) && !math.IsInf(f.value, 0) {
			o.float(f.name, f.value)
		}
	}
	o.str("unit", v.Display)
	return o.close()
}

type intervalField struct {
	name     string
	value    float64
	decimals int // in the CSV
}

func intervalFields(v *metric.RepeatedValue) []intervalField {
	return []intervalField{
		{"mean", v.Mean, 2}, {"std", v.Std, 2}, {"min", v.Min, 2}, {"max", v.Max, 2}, {"cv", v.CV, 4}, {"se", v.SE, 4},
		{"ci_low", v.Low, 2}, {"ci_high", v.High, 2}, {"t_critical", v.T, 4},
	}
}

func aggregateCSV(r *metric.Repeated) ([]byte, error) {
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
	err := c.WriteAll([][]string{
		{"Aggregation Type", "confidence"},
		{"Total Runs", strconv.Itoa(r.Runs)},
		{"Successful Runs", strconv.Itoa(len(r.Labels))},
		{"Confidence Level", string(appendFloat(nil, r.Confidence))},
		{"Run Labels", "[" + strings.Join(labels, ", ") + "]"},
		{"Cooldown Seconds", string(appendFloat(nil, r.Cooldown))},
	})
	return b.Bytes(), err
}

// decimals prints a number with a fixed number of decimals; "inf" for infinity, empty for what does not exist.
func decimals(v float64, n int) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 0):
		return "inf"
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}
