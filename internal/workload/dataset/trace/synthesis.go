package trace

import (
	"fmt"
	"math"

	"aiperf/internal/base/rng"
)

// Synthesis rescales recorded traffic. Ratios of 1 change nothing.
type Synthesis struct {
	Speedup    float64 // divides timestamps, > 0
	PrefixLen  float64 // factor for the length of the shared part of a prompt, > 0
	PrefixRoot int     // number of independent copies of that part, ≥ 1
	PromptLen  float64 // factor for the length of the rest of the prompt, > 0
	OutputLen  float64 // factor for the output length, > 0
	MaxISL     int     // maximum input length; 0 = no limit
	MaxOSL     int     // maximum output length; 0 = no limit
}

// Changes reports whether some ratio is not 1. Limits alone rescale nothing.
func (s Synthesis) Changes() bool {
	return s.Speedup != 1 || s.PrefixLen != 1 || s.PrefixRoot != 1 || s.PromptLen != 1 || s.OutputLen != 1
}

// Check returns an error if a ratio is invalid.
func (s Synthesis) Check() error {
	if s.Speedup <= 0 || s.PrefixLen <= 0 || s.PrefixRoot < 1 || s.PromptLen <= 0 || s.OutputLen <= 0 {
		return fmt.Errorf("synthesis: ratios and multipliers must be above 0")
	}
	return nil
}

// Instant returns the rescaled time of a timestamp, in ms.
func (s Synthesis) Instant(ms float64) float64 { return math.Trunc(ms / s.Speedup) }

// Apply rescales the records of the sessions in place. Only the equality of hash ids matters, not their values.
func (s Synthesis) Apply(sessions []Session, block int, root *rng.Root) error {
	if !s.Changes() {
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	var records []*Record
	for i := range sessions {
		for k := range sessions[i].Records {
			records = append(records, &sessions[i].Records[k])
		}
	}
	if err := s.rescalePrompts(records, block, root); err != nil {
		return err
	}
	for _, rec := range records {
		s.Rest(rec, block)
	}
	return nil
}

// idSource generates ids that no record has yet.
type idSource struct{ last int64 }

func (f *idSource) extend(ids []int64, n int) []int64 {
	for range n {
		f.last++
		ids = append(ids, f.last)
	}
	return ids
}

// rescalePrompts changes the length of the shared part and of the rest of every prompt.
func (s Synthesis) rescalePrompts(records []*Record, block int, root *rng.Root) error {
	var ids IDs
	for _, rec := range records {
		ids.Add(rec.HashIDs)
	}
	last := s.FirstID(&ids)
	for _, rec := range records {
		if len(rec.HashIDs) == 0 {
			continue
		}
		var err error
		if last, err = s.Prompt(rec, ids.Leading(rec, block), block, last); err != nil {
			return fmt.Errorf("%s: %w", rec.Where, err)
		}
	}
	if s.PrefixRoot < 2 {
		return nil
	}
	stream := root.Stream(rootsStream)
	for _, rec := range records {
		if len(rec.HashIDs) > 0 {
			Shift(rec, int64(stream.Below(s.PrefixRoot))*(last+1))
		}
	}
	return nil
}

// rootsStream is the stream that draws the copies of the shared part.
const rootsStream = "dataset.synthesis.synthesizer"

// Roots returns the stream from which every record with ids draws its copy, in order, out of PrefixRoot copies. The ids of each copy start after the
// highest id of the previous copy.
func (s Synthesis) Roots(root *rng.Root) *rng.Stream { return root.Stream(rootsStream) }

// Shift moves a record to another copy of the id space.
func Shift(rec *Record, offset int64) {
	for i := range rec.HashIDs {
		rec.HashIDs[i] += offset
	}
}

// FirstID returns the id after which new ids begin.
func (s Synthesis) FirstID(ids *IDs) int64 { return (ids.highest + 1) * s.copies() }

func (s Synthesis) copies() int64 { return int64(max(1, s.PrefixLen)) }

// Prompt rescales the prompt of a record with ids. The first shared ids are shared with other records. New ids begin after last. It returns the last
// new id, or an error if the prompt would be too long.
func (s Synthesis) Prompt(rec *Record, shared, block int, last int64) (int64, error) {
	fresh := &idSource{last: last}
	rest := rec.InputLength - shared*block
	if long := float64(shared*block)*s.PrefixLen + float64(rest)*s.PromptLen; long > MaxInput {
		return last, fmt.Errorf("synthesis: a prompt of %d tokens would become one of %.3g tokens; allowed: up to %d", rec.InputLength, long, MaxInput)
	}
	ids := s.stretch(rec.HashIDs[:shared], s.copies(), fresh)
	length := len(ids) * block
	rest = int(float64(rest) * s.PromptLen)
	if ids = fresh.extend(ids, (rest+block-1)/block); len(ids) == 0 {
		rec.HashIDs = nil
	} else {
		rec.HashIDs, rec.InputLength = ids, length+rest
	}
	return fresh.last, nil
}

// IDs records which hash ids occur, and which occur more than once.
type IDs struct {
	pages   map[int64]idPage
	highest int64 // highest id that occurs more than once; 0 = none
	hasIDs  bool
}

// idPage holds two bits for each of 64 consecutive ids.
type idPage struct{ used, shared uint64 }

// Add records the ids of a record.
func (t *IDs) Add(ids []int64) {
	if t.pages == nil {
		t.pages = map[int64]idPage{}
	}
	for _, id := range ids {
		page, bit := t.pages[id>>6], uint64(1)<<(id&63)
		if page.used&bit != 0 {
			if page.shared |= bit; !t.hasIDs || id > t.highest {
				t.highest, t.hasIDs = id, true
			}
		}
		page.used |= bit
		t.pages[id>>6] = page
	}
}

// Leading returns the number of leading ids that other requests share. A partial last block never counts as shared: the Python tool rejects a file
// with such a shared block, which the published traces have.
func (t *IDs) Leading(rec *Record, block int) int {
	n := 0
	for n < len(rec.HashIDs) && (n+1)*block <= rec.InputLength {
		id := rec.HashIDs[n]
		if t.pages[id>>6].shared&(1<<(id&63)) == 0 {
			break
		}
		n++
	}
	return n
}

// stretch changes the length of the shared part of a prompt. To lengthen it, every id becomes a run of distinct ids, and new ids add the fraction.
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

// Rest applies the input limit, truncates the ids to it, and rescales time and output. Delays are think time, not load, and do not change.
func (s Synthesis) Rest(rec *Record, block int) {
	if s.MaxISL > 0 && rec.InputLength > s.MaxISL {
		rec.InputLength = s.MaxISL
		rec.HashIDs = rec.HashIDs[:min(len(rec.HashIDs), (s.MaxISL+block-1)/block)]
	}
	if rec.Timestamp != nil {
		at := s.Instant(*rec.Timestamp)
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
