package custom

import (
	"sort"

	"aiperf/internal/workload/dataset/rows"
)

// Limits of a run of rows. A row is found by reading its run from the start.
const (
	runRows  = 32
	runBytes = 64 << 10
)

// rowOffsets stores where the rows of one or several files begin. Several files count as concatenated. Only the first row of a run is stored, so that
// a row takes less than a byte.
type rowOffsets struct {
	runs   column[run]
	rows   int
	within int // rows in the last run
	apart  bool
	path   string // file of the last row
}

// run is the start of a run of consecutive rows.
type run struct {
	offset    int64 // offset of the first row's text
	row, line uint32
}

// add records the next row.
func (p *rowOffsets) add(l rows.Line) {
	if p.within > 0 && !p.apart && p.within < runRows && p.path == l.Path {
		if last, _ := p.runs.at(p.runs.len() - 1); l.Offset-last.offset < runBytes {
			p.within++
			p.rows++
			return
		}
	}
	p.runs.add(run{offset: l.Offset, row: uint32(p.rows), line: uint32(l.Number)})
	p.rows++
	p.within, p.apart, p.path = 1, false, l.Path
}

// len returns the number of rows.
func (p *rowOffsets) len() int { return p.rows }

// skip records that a row was skipped. The next row then starts a new run.
func (p *rowOffsets) skip() { p.apart = true }

// find returns the run of a row.
func (p *rowOffsets) find(row int) run {
	i := sort.Search(p.runs.len(), func(i int) bool { r, _ := p.runs.at(i); return int(r.row) > row })
	r, _ := p.runs.at(i - 1)
	return r
}
