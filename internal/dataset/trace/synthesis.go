package trace

import (
	"fmt"
	"math"

	"aiperf/internal/rng"
)

// Synthesis rescales recorded traffic. Ratios of 1 leave it as it was.
type Synthesis struct {
	Speedup    float64 // timestamps are divided by it, > 0
	PrefixLen  float64 // length of the part of a prompt that several requests share, > 0
	PrefixRoot int     // independent copies of that part, ≥ 1
	PromptLen  float64 // length of the rest of the prompt, > 0
	OutputLen  float64 // output length, > 0
	MaxISL     int     // no longer inputs, 0 = no limit
	MaxOSL     int     // no longer outputs, 0 = no limit
}

// Changes tells whether some ratio is not 1; the limits alone rescale nothing.
func (s Synthesis) Changes() bool {
	return s.Speedup != 1 || s.PrefixLen != 1 || s.PrefixRoot != 1 || s.PromptLen != 1 || s.OutputLen != 1
}

// Apply rescales the records of the sessions in place. Only the equality of hash ids means something, not their values.
func (s Synthesis) Apply(sessions []Session, block int, root *rng.Root) error {
	if !s.Changes() {
		return nil
	}
	if s.Speedup <= 0 || s.PrefixLen <= 0 || s.PrefixRoot < 1 || s.PromptLen <= 0 || s.OutputLen <= 0 {
		return fmt.Errorf("synthesis: ratios and multipliers must be above 0")
	}
	var records []*Record
	for i := range sessions {
		for k := range sessions[i].Records {
			records = append(records, &sessions[i].Records[k])
		}
	}
	s.rescalePrompts(records, block, root)
	for _, rec := range records {
		s.rescaleRest(rec, block)
	}
	return nil
}

// idSource hands out ids that no record has yet.
type idSource struct{ last int64 }

func (f *idSource) extend(ids []int64, n int) []int64 {
	for range n {
		f.last++
		ids = append(ids, f.last)
	}
	return ids
}

// rescalePrompts makes the shared part and the rest of every prompt longer or shorter.
func (s Synthesis) rescalePrompts(records []*Record, block int, root *rng.Root) {
	shared, highest := sharedIDs(records)
	copies := int64(max(1, s.PrefixLen))
	fresh := &idSource{last: (highest + 1) * copies}
	for _, rec := range records {
		if len(rec.HashIDs) == 0 {
			continue
		}
		prefix := leading(rec, shared, block)
		rest := rec.InputLength - prefix*block
		ids := s.stretch(rec.HashIDs[:prefix], copies, fresh)
		length := len(ids) * block
		rest = int(float64(rest) * s.PromptLen)
		ids = fresh.extend(ids, (rest+block-1)/block)
		if len(ids) == 0 {
			rec.HashIDs = nil
			continue
		}
		rec.HashIDs, rec.InputLength = ids, length+rest
	}
	s.copyRoots(records, fresh.last+1, root)
}

// leading is the number of leading ids that other requests share. A last block that the input does not fill belongs to the rest, even
// if it is shared: the Python tool refuses a file with such a row, as the published traces have them.
func leading(rec *Record, shared map[int64]bool, block int) int {
	n := 0
	for n < len(rec.HashIDs) && shared[rec.HashIDs[n]] && (n+1)*block <= rec.InputLength {
		n++
	}
	return n
}

// sharedIDs returns the ids that occur more than once and the highest of them.
func sharedIDs(records []*Record) (shared map[int64]bool, highest int64) {
	shared = map[int64]bool{}
	for _, rec := range records {
		for _, id := range rec.HashIDs {
			_, seen := shared[id]
			shared[id] = seen
		}
	}
	first := true
	for id, more := range shared {
		if more && (first || id > highest) {
			highest, first = id, false
		}
	}
	return shared, highest
}

// stretch makes the shared part of a prompt longer or shorter. Every id becomes a run of ids of its own; a fraction is made up of fresh ids.
func (s Synthesis) stretch(prefix []int64, copies int64, fresh *idSource) []int64 {
	var ids []int64
	switch {
	case s.PrefixLen > 1:
		for _, id := range prefix {
			for k := range copies {
				ids = append(ids, id*copies+k)
			}
		}
		ids = fresh.extend(ids, int(math.Ceil(float64(len(prefix))*s.PrefixLen))-len(ids))
	case s.PrefixLen < 1 && len(prefix) > 0:
		ids = append(ids, prefix[:max(1, int(float64(len(prefix))*s.PrefixLen))]...)
	default:
		ids = append(ids, prefix...)
	}
	return ids
}

// copyRoots moves every record into one of several copies of the id space, drawn at random.
func (s Synthesis) copyRoots(records []*Record, step int64, root *rng.Root) {
	if s.PrefixRoot < 2 {
		return
	}
	stream := root.Stream("dataset.synthesis.synthesizer")
	for _, rec := range records {
		if len(rec.HashIDs) == 0 {
			continue
		}
		offset := int64(stream.Below(s.PrefixRoot)) * step
		for i := range rec.HashIDs {
			rec.HashIDs[i] += offset
		}
	}
}

// rescaleRest applies the limit to the input, with as many ids as are left of it, and rescales time and output. Delays are think time,
// not load, and stay.
func (s Synthesis) rescaleRest(rec *Record, block int) {
	if s.MaxISL > 0 && rec.InputLength > s.MaxISL {
		rec.InputLength = s.MaxISL
		rec.HashIDs = rec.HashIDs[:min(len(rec.HashIDs), (s.MaxISL+block-1)/block)]
	}
	if rec.Timestamp != nil {
		at := math.Trunc(*rec.Timestamp / s.Speedup)
		rec.Timestamp = &at
	}
	if rec.OutputLength != nil {
		n := max(1, int(math.RoundToEven(float64(*rec.OutputLength)*s.OutputLen)))
		if s.MaxOSL > 0 {
			n = min(n, s.MaxOSL)
		}
		rec.OutputLength = &n
	}
}
