package plan

import (
	"path/filepath"
	"time"

	"aiperf/internal/config"
)

// grid is the generator of a sweep. It runs all cells and then repeats them (repeated), or runs each cell several times before the next one
// (independent).
type grid struct {
	repeats
	cells   []config.Cell
	byCell  bool
	between time.Duration // pause between two cells
}

// Count implements generator.
func (g grid) Count() int { return g.runs * len(g.cells) }

// Next implements generator.
func (g grid) Next(results []trial) (trial, bool) {
	t, more := g.following(results)
	if !more {
		return trial{}, false
	}
	t.label, t.dir = g.place(&g.cells[t.cell], t.n)
	if k := len(results); k > 0 {
		last := &results[k-1]
		if t.cell != last.cell {
			t.pause = g.between
		}
		if t.n != last.n {
			t.pause = max(t.pause, g.cooldown)
		}
	}
	return t, true
}

// following returns the first trial in the order of the sweep without a result, skipping cells that have converged.
func (g grid) following(results []trial) (trial, bool) {
	done := 0
	for k := range g.Count() {
		t := trial{cell: k % len(g.cells), n: k / len(g.cells)}
		if g.byCell {
			t = trial{cell: k / g.runs, n: k % g.runs}
		}
		switch {
		case g.until != nil && g.until.converged(ofCell(results[:done], t.cell)):
		case done == len(results):
			return t, true
		default:
			done++
		}
	}
	return trial{}, false
}

// place sets the name and the directory of a trial (timing, section 13).
func (g grid) place(cell *config.Cell, n int) (label, dir string) {
	switch {
	case g.runs == 1:
		return cell.Dir, filepath.Join(g.base, cell.Dir)
	case g.byCell:
		return cell.Dir + "/" + trialLabel(n), filepath.Join(g.base, cell.Dir, "profile_runs", trialLabel(n))
	}
	return trialLabel(n) + "/" + cell.Dir, filepath.Join(g.base, "profile_runs", trialLabel(n), cell.Dir)
}
