package artifact

import (
	"cmp"
	"encoding/csv"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
)

// WriteSlicesJSON writes the time slices of a run.
func WriteSlicesJSON(path string, run *metric.Run, hide *redact.Secrets) error {
	o := jsontext.Open(nil)
	o.Key("timeslices")
	o.B = append(o.B, '[')
	for i := range run.Slices {
		s := &run.Slices[i]
		if i > 0 {
			o.B = append(o.B, ',')
		}
		e := jsontext.Open(o.B)
		e.Int("timeslice_index", int64(s.Index))
		e.Int("start_ns", s.Window.From)
		e.Int("end_ns", s.Window.To)
		if !s.Complete {
			e.Bool("is_complete", false)
		}
		for _, r := range s.Shown() {
			appendResult(&e, &r)
		}
		o.B = e.Close()
	}
	o.B = append(o.B, ']')
	o.Raw("input_config", orEmpty(run.InputConfig))
	data, err := jsontext.Indent(o.Close())
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
		sorting.Sort(results, func(a, b metric.Result) int { return cmp.Compare(a.Tag, b.Tag) })
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
