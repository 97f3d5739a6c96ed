package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// sweptCell converts a cell for files; short maps paths to the names of its values, nil: use whole paths.
func sweptCell(cell *config.Cell, short map[string]string, trials []*trial) metric.SweepCell {
	c := metric.SweepCell{Label: cell.Label}
	if r := cell.Run; r != nil && len(r.Models.Items) > 0 {
		c.Model = r.Models.Items[0].Name
	}
	for _, a := range cell.Values {
		name := a.Path
		if s, ok := short[name]; ok {
			name = s
		}
		c.Values = append(c.Values, metric.NamedValue{Name: a.Path, Value: a.Values[0]})
		c.Short = append(c.Short, metric.NamedValue{Name: name, Value: a.Values[0]})
	}
	for _, t := range trials {
		if t.ok() {
			c.Runs = append(c.Runs, t.run)
		}
	}
	return c
}

// shortNames maps swept paths to their last parts, or to the whole path if two share it. order is that of the first cell that has them.
func shortNames(cells []config.Cell) (short map[string]string, order []string) {
	short = map[string]string{}
	used := map[string]string{}
	var paths []string
	for k := range cells {
		for _, a := range cells[k].Values {
			if _, seen := short[a.Path]; seen {
				continue
			}
			last := a.Path[strings.LastIndexByte(a.Path, '.')+1:]
			if other, twice := used[last]; twice {
				short[other], last = other, a.Path
			}
			used[last], short[a.Path] = a.Path, last
			paths = append(paths, a.Path)
		}
	}
	for _, p := range paths {
		order = append(order, short[p])
	}
	return short, order
}

// sweepSummary returns the summary of the cells of the sweep.
func (i *invocation) sweepSummary(cells []config.Cell, byCell [][]*trial) (*metric.SweepSummary, error) {
	short, names := shortNames(cells)
	s := &metric.SweepSummary{
		Confidence: i.run.MultiRun.ConfidenceLevel, Trials: max(1, i.run.MultiRun.NumRuns), Mode: i.run.Sweep.IterationOrder, Names: names, Combined: len(cells),
	}
	for k := range cells {
		s.Cells = append(s.Cells, sweptCell(&cells[k], short, byCell[k]))
		for _, t := range byCell[k] {
			s.Runs++
			if !t.ok() {
				s.Failed = append(s.Failed, metric.FailedRun{Label: runLabel(t.n), Error: t.fault(), Variation: cells[k].Label})
			}
		}
	}
	var err error
	s.Conditions, err = conditions(i.run.Sweep.SLAFilters)
	return s, err
}

// conditions converts the conditions of a sweep to conditions on metrics.
func conditions(filters []config.SLAFilter) (list []metric.Condition, err error) {
	for _, f := range filters {
		name := f.Stat
		if name == "" {
			name = "p95"
		}
		stat, ok := metric.StatByName(name)
		if _, known := metric.Lookup(f.MetricTag); !known || !ok {
			return nil, fmt.Errorf("sla_filters: there is no metric %s with the statistic %s", f.MetricTag, name)
		}
		list = append(list, metric.Condition{Tag: f.MetricTag, Stat: stat, Op: f.Op, Limit: f.Threshold})
	}
	return list, nil
}

// sweepDir returns the directory for the files of the whole sweep.
func (i *invocation) sweepDir() string {
	if i.run.MultiRun.NumRuns > 1 && i.run.Sweep.IterationOrder != "independent" {
		return filepath.Join(i.run.Artifacts.Dir, "aggregate", "sweep_aggregate")
	}
	return filepath.Join(i.run.Artifacts.Dir, "sweep_aggregate")
}

// sweepFiles writes the summary of all cells.
func (i *invocation) sweepFiles(cells []config.Cell, byCell [][]*trial) error {
	s, err := i.sweepSummary(cells, byCell)
	if err != nil {
		return err
	}
	dir := i.sweepDir()
	if err := artifact.WriteSweep(dir, s); err != nil {
		return err
	}
	if i.run.Sweep.Type.Sampled() {
		if err := i.design(dir, cells); err != nil {
			return err
		}
	}
	if p := i.run.Sweep.PostProcess; p != nil {
		return i.postProcess(dir, p, s)
	}
	return nil
}

// design writes the points of a sampled sweep: the keys of the Python tool, and each point with its directory.
func (i *invocation) design(dir string, cells []config.Cell) error {
	s := i.run.Sweep
	type dimension struct {
		Path    string   `json:"path"`
		Low     *float64 `json:"lo"`
		High    *float64 `json:"hi"`
		Scale   string   `json:"scale"`
		Kind    string   `json:"kind"`
		Choices []any    `json:"choices"`
	}
	type row struct {
		Index  int            `json:"index"`
		Label  string         `json:"label"`
		Dir    string         `json:"dir_name"`
		Values map[string]any `json:"values"`
	}
	out := struct {
		Type         config.SweepType `json:"type"`
		Samples      int              `json:"samples"`
		Seed         *int64           `json:"seed"`
		Scramble     *bool            `json:"scramble"`
		Optimization *string          `json:"optimization"`
		Dimensions   []dimension      `json:"dimensions"`
		Mapped       [][]any          `json:"samples_mapped"` // the values of every point, one per dimension
		Points       []row            `json:"points"`
	}{Type: s.Type, Samples: s.Samples, Seed: s.Seed}
	if s.Type == config.SweepSobol {
		scramble := s.Scramble == nil || *s.Scramble
		out.Scramble = &scramble
	} else if s.Optimization != "none" {
		optimization := cmp.Or(s.Optimization, "random-cd")
		out.Optimization = &optimization
	}
	for _, d := range s.Dimensions {
		one := dimension{Path: d.Path, Scale: cmp.Or(d.Scale, "linear"), Kind: cmp.Or(d.Kind, "real"), Choices: d.Choices}
		if d.Choices == nil {
			one.Low, one.High = &d.Low, &d.High
		}
		out.Dimensions = append(out.Dimensions, one)
	}
	for k := range cells {
		r := row{k, cells[k].Label, cells[k].Dir, map[string]any{}}
		for _, a := range cells[k].Values {
			r.Values[a.Path] = a.Values[0]
		}
		mapped := make([]any, len(s.Dimensions))
		for j, d := range s.Dimensions {
			mapped[j] = r.Values[d.Path]
		}
		out.Mapped, out.Points = append(out.Mapped, mapped), append(out.Points, r)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(dir, "sampling_design.json"), append(data, '\n'))
}
