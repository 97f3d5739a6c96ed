package custom

import (
	"sort"

	"aiperf/internal/dataset/rows"
)

// The longest runs of rows that are found by counting rows from their first one.
const (
	runRows  = 32
	runBytes = 64 << 10
)

// places are where the rows of a file, or of several as if they stood one behind the other, lie. Only the first of a run of neighbours is noted: a
// row takes less than a byte.
type places struct {
	runs   column[run]
	rows   int
	within int // rows of the last run
	apart  bool
	path   string // of the last row
}

// run is where neighbouring rows begin.
type run struct {
	offset    int64 // of the first one's text
	row, line uint32
}

// add notes the next row.
func (p *places) add(l rows.Line) {
	if p.within > 0 && !p.apart && p.within < runRows && p.path == l.Path {
		if last, _ := p.runs.at(p.runs.n - 1); l.Offset-last.offset < runBytes {
			p.within++
			p.rows++
			return
		}
	}
	p.runs.add(run{offset: l.Offset, row: uint32(p.rows), line: uint32(l.Number)})
	p.rows++
	p.within, p.apart, p.path = 1, false, l.Path
}

// skip notes that a row was left out: the next one is nobody's neighbour.
func (p *places) skip() { p.apart = true }

// find returns the run that holds a row.
func (p *places) find(row int) run {
	i := sort.Search(p.runs.n, func(i int) bool { r, _ := p.runs.at(i); return int(r.row) > row })
	r, _ := p.runs.at(i - 1)
	return r
}
