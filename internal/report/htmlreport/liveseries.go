package htmlreport

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/ui/liveview"
)

// LiveSeries is a series of runs in progress: its finished runs, and what is known of the rest.
type LiveSeries struct {
	Dir     string
	Planned int                     // number of runs; 0 = unknown
	AtMost  bool                    // Planned is a limit, the series may end earlier
	Cell    func(dir string) string // returns the cell of a run; nil = by what the runs vary
	Label   string                  // of the present run
	Left    time.Duration           // estimate for the whole series; negative = unknown

	runs   []*runfiles.Run
	grid   *grid // of the finished runs, nil = not yet made
	charts []*chart.Chart
}

// Add adds a finished run.
func (s *LiveSeries) Add(dir string) {
	r := runfiles.Open(dir)
	if _, err := r.Summary(); err == nil {
		s.runs, s.grid = append(s.runs, r), nil
	}
}

// Finished returns the number of finished runs.
func (s *LiveSeries) Finished() int { return len(s.runs) }

// Report returns the report of the finished runs.
func (s *LiveSeries) Report(version string) ([]byte, error) {
	return Sweep(s.Dir, s.runs, "", version)
}

// make reduces the finished runs, once for each new one.
func (s *LiveSeries) make() {
	if s.grid != nil || len(s.runs) == 0 {
		return
	}
	cells := cellsOf(s.runs)
	if s.Cell != nil {
		cells = nil
		for _, r := range s.runs {
			name := s.Cell(r.Dir)
			k := slices.IndexFunc(cells, func(c cell) bool { return c.name == name })
			if k < 0 {
				k, cells = len(cells), append(cells, cell{name: name})
			}
			cells[k].runs = append(cells[k].runs, r)
		}
		sorting.Sort(cells, func(a, b cell) int { return cmp.Compare(a.name, b.name) })
	}
	s.grid = newGrid(cells)
	front, growth := s.grid.charts()
	s.charts = append([]*chart.Chart{front}, growth...)
}

// progress says which run the page shows.
func (s *LiveSeries) progress() string {
	text := fmt.Sprintf("Run %d", len(s.runs)+1)
	if s.Planned > 0 {
		text += fmt.Sprintf(" of %s%d", map[bool]string{true: "at most "}[s.AtMost], s.Planned)
	}
	if s.Label != "" {
		text += ", " + s.Label
	}
	return text
}

// liveSeries adds the finished runs of a series.
func (b *builder) liveSeries(s *LiveSeries, over bool) error {
	one := section{ID: "series", Title: "Finished runs"}
	switch {
	case len(s.runs) == 0:
		one.Empty = "No run of the series has finished. The page shows the present one."
	case over:
		one.Lead = terminal.Plural(len(s.runs), "run") + " finished."
	default:
		one.Lead = terminal.Plural(len(s.runs), "run") + " finished so far."
		if s.Planned > 0 {
			one.Lead = fmt.Sprintf("%d of %s%d runs are finished.", len(s.runs), map[bool]string{true: "at most "}[s.AtMost], s.Planned)
		}
		if s.Left >= 0 {
			one.Lead += " About " + liveview.Span(s.Left.Round(time.Second)) + " left for the series."
		}
	}
	if s.make(); s.grid != nil {
		one.Tables = append(one.Tables, s.grid.table(func(*runfiles.Run) runPlace { return runPlace{} }))
		for _, c := range s.charts {
			if err := b.chart(&one, c, false, false); err != nil {
				return err
			}
		}
	}
	b.Sections = append(b.Sections, one)
	return nil
}
