package synth

import (
	"strconv"

	"aiperf/internal/rng"
)

// material is what prompts are cut from, and the draws that say where. The draws are in the order of the Python tool.
type material interface {
	// start draws where the next prompt begins.
	start() int
	// cut appends n tokens from a place on.
	cut(dst []int32, start, n int) []int32
	// topUp appends n tokens to a prompt whose text counts too few.
	topUp(dst []int32, n int) []int32
	// prefix appends the n tokens that a prefix of a pool is made from.
	prefix(dst []int32, n int) []int32
	// mark notes the state of the draws; reset goes back to it.
	mark() (reset func())
	// apart is the same material with draws of its own, for prompt i.
	apart(i int) material
}

// slices are prompts cut out of a corpus: one draw of the place each.
type corpusMaterial struct {
	*Corpus
	draws   *rng.Stream
	retries uint64 // seed of the draws that the Python tool does not make
}

func (m *corpusMaterial) start() int { return m.draws.Below(m.Size()) }

func (m *corpusMaterial) cut(dst []int32, start, n int) []int32 { return m.Append(dst, start, n) }

func (m *corpusMaterial) topUp(dst []int32, n int) []int32 { return m.Append(dst, m.start(), n) }

func (m *corpusMaterial) prefix(dst []int32, n int) []int32 { return m.topUp(dst, n) }

func (m *corpusMaterial) mark() (reset func()) {
	before := m.draws.Python
	return func() { m.draws.Python = before }
}

func (m *corpusMaterial) apart(i int) material {
	own := *m
	own.draws = rng.NewStream(rng.ChildSeed(m.retries, strconv.Itoa(i)))
	return &own
}
