package rowstore

import (
	"sort"

	"aiperf/internal/workload/dataset/rows"
)

// Limits of a run of rows. A row is found by reading its run from the start.
const (
	runRows  = 32
	runBytes = 64 << 10
)

// Offsets stores where the rows of one or several files begin. Several files count as concatenated. Only the first row of a run is stored, so that
// a row takes less than a byte.
type Offsets struct {
	runs   Column[Run]
	rows   int
	within int    // rows in the last run
	gap    bool   // a row was skipped after the last one
	path   string // file of the last row
}

// Run is the start of a run of consecutive rows.
type Run struct {
	Offset    int64 // offset of the first row's text
	Row, Line uint32
}

// Add records the next row.
func (p *Offsets) Add(l rows.Line) {
	if p.within > 0 && !p.gap && p.within < runRows && p.path == l.Path {
		if last, _ := p.runs.At(p.runs.Len() - 1); l.Offset-last.Offset < runBytes {
			p.within++
			p.rows++
			return
		}
	}
	p.runs.Add(Run{Offset: l.Offset, Row: uint32(p.rows), Line: uint32(l.Number)})
	p.rows++
	p.within, p.gap, p.path = 1, false, l.Path
}

// Len returns the number of rows.
func (p *Offsets) Len() int { return p.rows }

// Skip records that a row was skipped. The next row then starts a new run.
func (p *Offsets) Skip() { p.gap = true }

// Find returns the run of a row.
func (p *Offsets) Find(row int) Run {
	i := sort.Search(p.runs.Len(), func(i int) bool { r, _ := p.runs.At(i); return int(r.Row) > row })
	r, _ := p.runs.At(i - 1)
	return r
}
