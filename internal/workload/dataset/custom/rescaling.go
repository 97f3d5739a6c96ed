package custom

import (
	"fmt"
	"math"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// rescaling holds what is needed to rescale each row of recorded traffic when it is read again: how many of its ids it shares with others, and which
// new ids it gets. Rows that stay in their file are read twice for this.
type rescaling struct {
	trace.Synthesis
	ids   trace.IDs // used until all rows are known
	block int

	sharedIDs    rowstore.Column[uint32] // by row: number of leading shared ids, plus 1; 0 = the row has no ids
	inputs       rowstore.Column[uint32] // by row: input tokens; used until all rows are known
	lastSharedID rowstore.Column[int64]  // by row: the id before its own new ids
	copies       rowstore.Column[uint32] // by row: copy of the id space that it uses; shorter = the first copy
	step         int64                   // distance between the ids of two copies
}

// claimedAhead is the number of ids that are claimed before the first prompt is generated. Later ids may get the same text as others after the same
// blocks.
const claimedAhead = 1 << 20

// note counts the ids of a row.
func (r *rescaling) note(e *entry) {
	r.block = e.block
	r.ids.Add(e.prompt.HashIDs)
}

// rescale rescales the rows after all were recorded and grouped.
func (x *indexed) rescale(l *loader) error {
	r := x.rescaled
	again := newLoader(x.Options, l.set.info)
	again.Reading, again.media.fetched = l.Reading, l.media.fetched
	err := x.from.each(again, func(_ rows.Line, e *entry) {
		clear(again.media.known)
		if e.skipped {
			return
		}
		r.inputs.Add(uint32(e.prompt.InputLength))
		if len(e.prompt.HashIDs) == 0 {
			r.sharedIDs.Add(0)
			return
		}
		r.sharedIDs.Add(uint32(r.ids.Leading(&e.prompt, r.block) + 1))
	}, func() bool { return true })
	if err != nil {
		return err
	}
	if err := x.rescaleRows(r); err != nil {
		return fmt.Errorf("%s: %w", x.path, err)
	}
	r.ids, r.inputs = trace.IDs{}, rowstore.Column[uint32]{}
	return nil
}

// rescaleRows assigns new ids, lengths and times to the rows in the order of the conversations.
func (x *indexed) rescaleRows(r *rescaling) (err error) {
	last, roots := r.FirstID(&r.ids), r.Roots(x.Root)
	var prefix []int64 // only its length matters here
	for i := range x.index.Conversations() {
		for _, row := range x.index.RowsOf(i) {
			at := int(row)
			input, _ := r.inputs.At(at)
			rec := trace.Record{InputLength: int(input)}
			if n, _ := r.sharedIDs.At(at); n > 0 {
				for len(prefix) < int(n) {
					prefix = append(prefix, 0)
				}
				rec.HashIDs = prefix[:n-1]
				r.lastSharedID.Set(at, last, 0)
				if last, err = r.Prompt(&rec, int(n-1), r.block, last); err != nil {
					return err
				}
				if r.PrefixRoot > 1 && len(rec.HashIDs) > 0 {
					r.copies.Set(at, uint32(roots.Below(r.PrefixRoot)), 0)
				}
			}
			r.Rest(&rec, r.block)
			if want := promptDemand(&rec, r.block); want != 0 {
				x.promptTokens.Set(at, int32(want), 0)
			}
			for slot := x.index.FirstSlot(at); slot < x.index.FirstSlot(at+1); slot++ {
				if ms := x.index.Time(slot); ms != nil {
					x.index.Times.Set(slot, r.Instant(*ms), math.NaN())
				}
			}
		}
	}
	x.index.Shift, r.step = 0, last+1
	return nil
}

// rescaledEntry rescales a row that was read again.
func (x *indexed) rescaledEntry(l *loader, row int, e *entry) {
	r, rec := x.rescaled, e.prompt
	if n, _ := r.sharedIDs.At(row); n > 0 {
		before, _ := r.lastSharedID.At(row)
		_, _ = r.Prompt(&rec, int(n-1), r.block, before) // rescaleRows has reported prompts that become too long
		copied, _ := r.copies.At(row)
		trace.Shift(&rec, int64(copied)*r.step)
	}
	r.Rest(&rec, r.block)
	e.prompt = rec
	one := []trace.Record{rec}
	l.Limits.Cap(one, &l.set.info)
	e.Turns = []conversation.Turn{l.recorded(&one[0])}
}

// claimIDs claims the rescaled ids in the order of the conversations.
func (x *indexed) claimIDs() {
	claimed := 0
	for i := 0; x.replayed.corpus != nil && i < x.index.Conversations() && claimed < claimedAhead; i++ {
		for _, row := range x.index.RowsOf(i) {
			if ids := x.row(int(row)).prompt.HashIDs; ids != nil {
				x.replayed.blocks().Claim(ids)
				claimed += len(ids)
			}
		}
	}
}
