package artifact

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// WriteSweep writes the results of all cells of a sweep into a directory, as JSON and CSV.
func WriteSweep(dir string, s *metric.SweepSummary) error {
	data, err := sweepJSON(s)
	if err == nil {
		err = WriteFile(filepath.Join(dir, "profile_export_aiperf_sweep.json"), data)
	}
	if err != nil {
		return err
	}
	if data, err = sweepCSV(s); err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, "profile_export_aiperf_sweep.csv"), data)
}

// figure is one result of a cell: a statistic over its runs, or a metric of its only run.
type figure struct {
	name   string
	fields []intervalField
	unit   string
}

// figures returns the results of a cell: intervals of every statistic over several runs, or the metrics of a single run.
func figures(c *metric.SweepCell, trials int, confidence float64) (list []figure) {
	if trials > 1 {
		for _, v := range metric.Repeat(c.Runs, confidence) {
			var fields []intervalField
			for _, f := range intervalFields(&v) {
				if f.name != "se" && f.name != "t_critical" {
					fields = append(fields, f)
				}
			}
			list = append(list, figure{v.Name(), fields, v.Display})
		}
		return list
	}
	for _, r := range c.Runs[0].Profiling.Shown() {
		avg := r.Values[metric.Avg]
		low, high := r.Values[metric.Min], r.Values[metric.Max]
		if math.IsNaN(low) || math.IsNaN(high) {
			low, high = avg, avg
		}
		f := figure{name: r.Tag, unit: r.Display, fields: []intervalField{
			{"mean", avg, 2}, {"avg", avg, 2}, {"std", 0, 2}, {"min", low, 2}, {"max", high, 2}, {"cv", 0, 4}, {"ci_low", avg, 2}, {"ci_high", avg, 2},
		}}
		for s := metric.P1; s <= metric.P99; s++ {
			f.fields = append(f.fields, intervalField{s.String(), r.Values[s], -1})
		}
		f.fields = append(f.fields, intervalField{"count", r.Values[metric.Count], -1}, intervalField{"sum", r.Values[metric.Sum], -1})
		list = append(list, f)
	}
	return list
}

// appendNamed writes values as an object.
func appendNamed(b []byte, values []metric.NamedValue) ([]byte, error) {
	o := jsontext.Open(b)
	for _, v := range values {
		text, err := jsonValue(v.Value)
		if err != nil {
			return nil, err
		}
		o.Raw(v.Name, text)
	}
	return o.Close(), nil
}

// jsonValue converts a value of a configuration file to JSON.
func jsonValue(v any) ([]byte, error) {
	if f, ok := v.(float64); ok {
		return jsontext.AppendFloat(nil, f), nil
	}
	return json.Marshal(v)
}

func sweepJSON(s *metric.SweepSummary) ([]byte, error) {
	var errs []error
	named := func(b []byte, values []metric.NamedValue) []byte {
		out, err := appendNamed(b, values)
		errs = append(errs, err)
		return out
	}
	o := jsontext.Open(nil)
	o.Text("aggregation_type", "sweep")
	o.Int("num_profile_runs", int64(s.Runs))
	o.Int("num_successful_runs", int64(s.Runs-len(s.Failed)))
	o.Key("failed_runs")
	o.B = appendFailed(o.B, s.Failed)
	o.Key("metadata")
	o.B = appendSwept(o.B, s, &errs)
	o.Key("per_combination_metrics")
	o.B = append(o.B, '[')
	first := true
	for i := range s.Cells {
		c := &s.Cells[i]
		if len(c.Runs) == 0 {
			continue
		}
		if !first {
			o.B = append(o.B, ',')
		}
		first = false
		e := jsontext.Open(o.B)
		e.Key("parameters")
		e.B = named(e.B, c.Short)
		e.Key("metrics")
		m := jsontext.Open(e.B)
		for _, f := range figures(c, s.Trials, s.Confidence) {
			m.Key(f.name)
			m.B = appendCellFigure(m.B, &f)
		}
		e.B = m.Close()
		o.B = e.Close()
	}
	o.B = append(o.B, ']')
	o.Key("best_configurations")
	best := jsontext.Open(o.B)
	for _, b := range s.Best() {
		best.Key(b.Name)
		e := jsontext.Open(best.B)
		e.Key("parameters")
		e.B = named(e.B, b.Cell.Short)
		e.Float("metric", b.Value)
		e.Text("unit", b.Unit)
		best.B = e.Close()
	}
	o.B = best.Close()
	o.Key("pareto_optimal")
	o.B = append(o.B, '[')
	for i, c := range s.Pareto() {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = named(o.B, c.Short)
	}
	o.B = append(o.B, ']')
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return jsontext.Indent(o.Close())
}

// appendCellFigure writes a figure without the values that are not finite. The unit follows the interval.
func appendCellFigure(b []byte, f *figure) []byte {
	o := jsontext.Open(b)
	for _, one := range f.fields {
		if one.decimals >= 0 && finite(one.value) {
			o.Float(one.name, one.value)
		}
	}
	o.Text("unit", f.unit)
	for _, one := range f.fields {
		if one.decimals < 0 && finite(one.value) {
			if one.name == "count" {
				o.Int(one.name, int64(one.value))
			} else {
				o.Float(one.name, one.value)
			}
		}
	}
	return o.Close()
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// appendSwept writes the metadata of a sweep.
func appendSwept(b []byte, s *metric.SweepSummary, errs *[]error) []byte {
	o := jsontext.Open(b)
	o.Key("sweep_parameters")
	o.B = append(o.B, '[')
	for i, name := range s.Names {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		e := jsontext.Open(o.B)
		e.Text("name", name)
		e.Key("values")
		e.B = append(e.B, '[')
		var seen []string
		for k := range s.Cells {
			for _, v := range s.Cells[k].Short {
				text, err := jsonValue(v.Value)
				*errs = append(*errs, err)
				if v.Name != name || slices.Contains(seen, string(text)) {
					continue
				}
				if len(seen) > 0 {
					e.B = append(e.B, ',')
				}
				e.B = append(e.B, text...)
				seen = append(seen, string(text))
			}
		}
		e.B = append(e.B, ']')
		o.B = e.Close()
	}
	o.B = append(o.B, ']')
	o.Int("num_combinations", int64(s.Combined))
	o.Text("sweep_mode", s.Mode)
	o.Float("confidence_level", s.Confidence)
	o.Int("num_trials_per_value", int64(s.Trials))
	o.Text("aggregation_type", "sweep")
	if len(s.Conditions) > 0 {
		o.Key("sla_constraints")
		e := jsontext.Open(o.B)
		e.Key("active_filters")
		e.B = append(e.B, '[')
		for i := range s.Conditions {
			c := &s.Conditions[i]
			if i > 0 {
				e.B = append(e.B, ',')
			}
			f := jsontext.Open(e.B)
			f.Text("metric_tag", c.Tag)
			f.Text("stat", c.Stat.String())
			f.Text("op", c.Op)
			f.Float("threshold", c.Limit)
			e.B = f.Close()
		}
		e.B = append(e.B, ']')
		yes, no := s.Feasible()
		e.Int("feasible_count", int64(yes))
		e.Int("infeasible_count", int64(no))
		o.B = e.Close()
	}
	return o.Close()
}

func sweepCSV(s *metric.SweepSummary) ([]byte, error) {
	all := make([]map[string]figure, len(s.Cells))
	names := map[string]bool{}
	for i := range s.Cells {
		if c := &s.Cells[i]; len(c.Runs) > 0 {
			all[i] = map[string]figure{}
			for _, f := range figures(c, s.Trials, s.Confidence) {
				all[i][f.name], names[f.name] = f, true
			}
		}
	}
	keys := make([]string, 0, len(names))
	for n := range names {
		keys = append(keys, n)
	}
	slices.Sort(keys)
	head := slices.Clone(s.Names)
	for _, k := range keys {
		for _, f := range csvFields {
			head = append(head, k+"_"+f)
		}
	}
	rows := [][]string{head}
	for i := range s.Cells {
		if all[i] == nil {
			continue
		}
		row := valuesOf(s.Names, s.Cells[i].Short)
		for _, k := range keys {
			row = append(row, csvFigure(all[i][k].fields)...)
		}
		rows = append(rows, row)
	}
	best, pareto := [][]string{{"Best Configurations"}}, [][]string{{"Pareto Optimal Points"}, s.Names}
	for i, b := range s.Best() {
		if i == 0 {
			best = append(best, append(append([]string{"Configuration"}, s.Names...), "Metric", "Unit"))
		}
		title := map[string]string{"best_throughput": "Best Throughput", "best_latency_p99": "Best Latency P99"}[b.Name]
		best = append(best, append(append([]string{title}, valuesOf(s.Names, b.Cell.Short)...), decimals(b.Value, 2), b.Unit))
	}
	for _, c := range s.Pareto() {
		pareto = append(pareto, valuesOf(s.Names, c.Short))
	}
	if len(pareto) == 2 {
		pareto = [][]string{pareto[0], {"None"}}
	}
	return sections(rows, best, pareto, [][]string{
		{"Metadata"}, {"Field", "Value"}, {"Aggregation Type", "sweep"}, {"Sweep Parameters", strings.Join(s.Names, ", ")},
		{"Number of Combinations", strconv.Itoa(s.Combined)}, {"Number of Profile Runs", strconv.Itoa(s.Runs)},
		{"Number of Successful Runs", strconv.Itoa(s.Runs - len(s.Failed))},
	})
}

// csvFields lists the columns of a figure.
var csvFields = []string{"mean", "std", "min", "max", "cv"}

// csvFigure returns the columns of a figure; missing and infinite values are empty.
func csvFigure(fields []intervalField) []string {
	out := make([]string, len(csvFields))
	for i, name := range csvFields {
		for _, f := range fields {
			if f.name == name && finite(f.value) {
				out[i] = decimals(f.value, f.decimals)
			}
		}
	}
	return out
}

// valuesOf returns the values of some parameters; empty where a cell has none.
func valuesOf(names []string, values []metric.NamedValue) []string {
	out := make([]string, len(names))
	for i, name := range names {
		for _, v := range values {
			if v.Name == name {
				out[i] = pyText(v.Value, false)
			}
		}
	}
	return out
}

// sections writes tables separated by an empty line.
func sections(tables ...[][]string) ([]byte, error) {
	var b bytes.Buffer
	for i, rows := range tables {
		if i > 0 {
			b.WriteString("\r\n")
		}
		c := csv.NewWriter(&b)
		c.UseCRLF = true
		if err := c.WriteAll(rows); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// pyText formats a value as the Python tool does; quoted: as inside a list or a mapping.
func pyText(v any, quoted bool) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case nil:
		return "None"
	case float64:
		return string(jsontext.AppendFloat(nil, v))
	case string:
		if !quoted {
			return v
		}
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			return `"` + v + `"`
		}
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(v) + "'"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = pyText(v[i], true)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			keys[i] = pyText(k, true) + ": " + pyText(v[k], true)
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return fmt.Sprint(v)
}
