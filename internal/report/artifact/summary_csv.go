package artifact

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
)

// csvStats lists the columns of the distributions, which is also the order of statistics in the slices.
var csvStats = []metric.Stat{
	metric.Avg, metric.Min, metric.Max, metric.Sum, metric.P1, metric.P5, metric.P10, metric.P25, metric.P50, metric.P75, metric.P90,
	metric.P95, metric.P99, metric.Std,
}

// WriteSummaryCSV writes the summary of a run as CSV.
func WriteSummaryCSV(path string, run *metric.Run) error {
	var b strings.Builder
	if err := summaryCSV(&b, run.Profiling); err != nil {
		return err
	}
	b.WriteString(accuracyCSV(run.Accuracy))
	b.WriteString(gpuCSV(run.GPU))
	return WriteFile(path, []byte(b.String()))
}

// summaryCSV writes distributions, an empty line, and single values, both sorted by tag.
func summaryCSV(w io.Writer, s *metric.Summary) error {
	var wide, single []metric.Result
	for _, r := range s.Shown() {
		if r.Distribution() {
			wide = append(wide, r)
		} else {
			single = append(single, r)
		}
	}
	byTag := func(a, b metric.Result) int { return cmp.Compare(a.Tag, b.Tag) }
	sorting.Sort(wide, byTag)
	sorting.Sort(single, byTag)
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if len(wide) > 0 {
		row := []string{"Metric"}
		for _, s := range csvStats {
			row = append(row, s.String())
		}
		c.Write(row)
		for i := range wide {
			row = append(row[:0], csvName(wide[i].Metric))
			for _, s := range csvStats {
				row = append(row, cell(&wide[i], s))
			}
			c.Write(row)
		}
	}
	if len(single) > 0 {
		c.Flush()
		if len(wide) > 0 {
			if _, err := io.WriteString(w, "\r\n"); err != nil {
				return err
			}
		}
		c.Write([]string{"Metric", "Value"})
		for i := range single {
			c.Write([]string{csvName(single[i].Metric), cell(&single[i], metric.Avg)})
		}
	}
	c.Flush()
	return c.Error()
}

// csvName returns a metric's name with its unit, unless the unit only says that things are counted.
func csvName(m *metric.Metric) string {
	switch strings.ToLower(m.Display) {
	case "", "count", "requests":
		return m.Header
	}
	return m.Header + " (" + m.Display + ")"
}

// cell formats a statistic with two decimals; empty if it does not exist.
func cell(r *metric.Result, s metric.Stat) string {
	if !r.Has(s) {
		return ""
	}
	return strconv.FormatFloat(r.Values[s], 'f', 2, 64)
}
