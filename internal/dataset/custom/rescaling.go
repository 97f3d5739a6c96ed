package custom

import (
	"math"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// rescaling is what has to be known of the rows of recorded traffic so that each can be rescaled when it is read: which of its ids others share, and
// which ids it gets that nobody has. Rows that stay in their file are read twice for it.
type rescaling struct {
	trace.Synthesis
	ids   trace.IDs // until all rows are known
	block int

	shared column[uint32] // by row: leading ids that are shared, and 1; 0 = it has no ids
	inputs column[uint32] // by row: tokens; until all are known
	before column[int64]  // by row: the id behind which its own ones begin
	copies column[uint32] // by row: the copy of the id space that it lies in; shorter = the first
	step   int64          // between two copies
}

// claimedAhead is how many ids are claimed before the first prompt is made: no more are told apart from others behind the same blocks.
const claimedAhead = 1 << 20

// note counts the ids of a row.
func (r *rescaling) note(e *entry) {
	r.block = e.block
	r.ids.Add(e.prompt.HashIDs)
}

// rescale rescales the rows, which are all noted and brought together.
func (x *indexed) rescale(l *loader) error {
	r := x.rescaled
	again := newLoader(x.Options, l.set.info)
	again.Reading, again.media.fetched = l.Reading, l.media.fetched
	err := x.from.each(again, func(_ rows.Line, e *entry) {
		clear(again.media.known)
		if e.left {
			return
		}
		r.inputs.add(uint32(e.prompt.InputLength))
		if len(e.prompt.HashIDs) == 0 {
			r.shared.add(0)
			return
		}
		r.shared.add(uint32(r.ids.Leading(&e.prompt, r.block) + 1))
	}, func() bool { return true })
	if err != nil {
		return err
	}
	x.plant(r)
	r.ids, r.inputs = trace.IDs{}, column[uint32]{}
	return nil
}

// plant gives rows their new ids, lengths and times in the order of the conversations.
func (x *indexed) plant(r *rescaling) {
	last, roots := r.FirstID(&r.ids), r.Roots(x.Root)
	var prefix []int64 // its values do not matter here
	for i := range x.conversations() {
		for _, row := range x.rowsOf(i) {
			at := int(row)
			input, _ := r.inputs.at(at)
			rec := trace.Record{InputLength: int(input)}
			if n, _ := r.shared.at(at); n > 0 {
				for len(prefix) < int(n) {
					prefix = append(prefix, 0)
				}
				rec.HashIDs = prefix[:n-1]
				r.before.set(at, last, 0)
				last = r.Prompt(&rec, int(n-1), r.block, last)
				if r.PrefixRoot > 1 && len(rec.HashIDs) > 0 {
					r.copies.set(at, uint32(roots.Below(r.PrefixRoot)), 0)
				}
			}
			r.Rest(&rec, r.block)
			if want := wanted(&rec, r.block); want != 0 {
				x.wants.set(at, int32(want), 0)
			}
			for slot := x.firstSlot(at); slot < x.firstSlot(at+1); slot++ {
				if ms := x.time(slot); ms != nil {
					x.times.set(slot, r.Instant(*ms), math.NaN())
				}
			}
		}
	}
	x.shift, r.step = 0, last+1
}

// rescaledEntry rescales a row that was read again.
func (x *indexed) rescaledEntry(l *loader, row int, e *entry) {
	r, rec := x.rescaled, e.prompt
	if n, _ := r.shared.at(row); n > 0 {
		before, _ := r.before.at(row)
		r.Prompt(&rec, int(n-1), r.block, before)
		copied, _ := r.copies.at(row)
		trace.Shift(&rec, int64(copied)*r.step)
	}
	r.Rest(&rec, r.block)
	e.prompt = rec
	one := []trace.Record{rec}
	l.Limits.Cap(one, &l.set.info)
	e.Turns = []conversation.Turn{l.recorded(&one[0])}
}

// claim claims the rescaled ids in the order of the conversations.
func (x *indexed) claim() {
	claimed := 0
	for i := 0; x.made.corpus != nil && i < x.conversations() && claimed < claimedAhead; i++ {
		for _, row := range x.rowsOf(i) {
			if ids := x.row(int(row)).prompt.HashIDs; ids != nil {
				x.made.blocks().Claim(ids)
				claimed += len(ids)
			}
		}
	}
}
