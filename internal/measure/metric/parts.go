package metric

import (
	"math"

	"aiperf/internal/measure/stats"
)

// part is a part of the run's time.
type part struct {
	from, to       int64 // wall; the first part has no beginning, the last one no end
	blocks         []rowBlock
	requests, gaps int // that it has, about
}

// has reports whether an instant lies in the part.
func (p *part) has(at int64) bool { return p.from <= at && (at < p.to || p.to == math.MaxInt64) }

// contains reports whether a window lies in the part.
func (p *part) contains(from, to int64) bool { return p.from <= from && to <= p.to }

// blockRows is the number of rows of a block: as many as columns pack together.
const blockRows = 4096

// rowBlock is consecutive rows.
type rowBlock struct {
	row, rows, gap int   // the first row, their number, and the first gap
	from, to       int64 // from the first start to the last end
}

// blocks divides the rows into blocks.
func (r *Reducer) blocks() (list []rowBlock) {
	start, end, lens := r.start.Cursor(), r.end.Cursor(), r.lens.Cursor()
	gap := 0
	for row := range r.rows {
		begin := r.base + int64(start.Next())
		from, to := r.set.instant(begin), r.set.instant(begin+int64(end.Next()))
		if row%blockRows == 0 {
			list = append(list, rowBlock{row: row, gap: gap, from: from, to: to})
		}
		b := &list[len(list)-1]
		b.rows++
		b.from, b.to = min(b.from, from), max(b.to, to)
		if n := lens.Next(); n > 0 {
			gap += int(n)
		}
	}
	return list
}

// each calls visit for the timelines of the rows of blocks. visit must not keep the timeline, which is the same variable for every row.
func (r *Reducer) each(blocks []rowBlock, visit func(t *timeline)) {
	start, end, lens, gaps := r.start.Cursor(), r.end.Cursor(), r.lens.Cursor(), r.gaps.Cursor()
	ttft, isl, osl := r.column("time_to_first_token").Cursor(), r.column("input_sequence_length").Cursor(), r.column("output_sequence_length").Cursor()
	images := r.column("num_images").Cursor()
	var buf []float64
	var t timeline
	for _, b := range blocks {
		for _, c := range []*stats.Cursor{start, end, lens, ttft, isl, osl, images} {
			c.Seek(b.row)
		}
		gaps.Seek(b.gap)
		for range b.rows {
			begin := r.base + int64(start.Next())
			t = timeline{start: r.set.instant(begin), end: r.set.instant(begin + int64(end.Next())), isl: isl.Next(), osl: osl.Next(), images: images.Next()}
			if v := ttft.Next(); !math.IsNaN(v) {
				t.first = r.set.instant(begin + int64(v))
			}
			if n := lens.Next(); n > 0 {
				buf = buf[:0]
				for range int(n) {
					buf = append(buf, gaps.Next())
				}
				t.gaps = buf
			}
			visit(&t)
		}
	}
}

// densityBins is the number of equal spans of time in which parts count steps.
const densityBins = 1 << 14

// parts divides the run so that no curve has many more than a number of steps in a part. A run with fewer has one part.
func (r *Reducer) parts(steps int) []part {
	blocks := r.blocks()
	whole := part{math.MinInt64, math.MaxInt64, blocks, r.rows, r.gaps.Len()}
	if 2*r.rows+r.gaps.Len() <= steps {
		return []part{whole}
	}
	from, to := r.set.instant(r.firstStart), r.set.instant(r.lastEnd)
	width := (to-from)/densityBins + 1
	var requests, gaps [densityBins]int
	bin := func(at int64) int { return int(min(max(0, (at-from)/width), densityBins-1)) }
	r.each(blocks, func(t *timeline) {
		requests[bin(t.start)]++
		passed := t.first
		for _, g := range t.gaps {
			passed += int64(g)
			gaps[bin(passed)]++
		}
	})
	list := []part{{from: math.MinInt64}}
	for i := range densityBins {
		p := &list[len(list)-1]
		if n := 2*(p.requests+requests[i]) + p.gaps + gaps[i]; n > steps && p.requests+p.gaps > 0 {
			p.to = from + int64(i)*width
			list = append(list, part{from: p.to})
			p = &list[len(list)-1]
		}
		p.requests, p.gaps = p.requests+requests[i], p.gaps+gaps[i]
	}
	list[len(list)-1].to = math.MaxInt64
	for i := range list {
		p := &list[i]
		for _, b := range blocks {
			if b.to >= p.from && b.from < p.to {
				p.blocks = append(p.blocks, b)
			}
		}
	}
	return list
}
