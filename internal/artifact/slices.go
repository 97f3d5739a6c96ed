package artifact

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/metric"
	"aiperf/internal/redact"
)

// WriteSlicesJSON writes the time slices of a run.
func WriteSlicesJSON(path string, run *metric.Run, hide *redact.Secrets) error {
	o := open(nil)
	o.key("timeslices")
	o.b = append(o.b, '[')
	for i := range run.Slices {
		s := &run.Slices[i]
		if i > 0 {
			o.b = append(o.b, ',')
		}
		e := open(o.b)
		e.int("timeslice_index", int64(s.Index))
		e.int("start_ns", s.Window.From)
		e.int("end_ns", s.Window.To)
		if !s.Complete {
			e.bool("is_complete", false)
		}
		for _, r := range s.Shown() {
			appendResult(&e, &r)
		}
		o.b = e.close()
	}
	o.b = append(o.b, ']')
	o.raw("input_config", orEmpty(run.InputConfig))
	data, err := indented(o.close())
	if err != nil {
		return err
	}
	return WriteFile(path, hide.JSON(data))
}

// WriteSlicesCSV writes the time slices of a run in long form: one row per slice, metric and statistic.
func WriteSlicesCSV(path string, run *metric.Run) error {
	var b strings.Builder
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	c.Write([]string{"Timeslice", "Start_NS", "End_NS", "Metric", "Unit", "Stat", "Value"})
	for i := range run.Slices {
		s := &run.Slices[i]
		results := s.Shown()
		slices.SortFunc(results, func(a, b metric.Result) int { return cmp.Compare(a.Tag, b.Tag) })
		from, to := strconv.FormatInt(s.Window.From, 10), strconv.FormatInt(s.Window.To, 10)
		for k := range results {
			r := &results[k]
			for _, stat := range csvStats {
				if r.Has(stat) {
					c.Write([]string{strconv.Itoa(s.Index), from, to, r.Header, r.Display, stat.String(), cell(r, stat)})
				}
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return WriteFile(path, []byte(b.String()))
}
