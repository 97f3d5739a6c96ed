package synth

import (
	"strconv"

	"aiperf/internal/base/rng"
)

// promptSource is the source that prompts are cut from, with the draws of their positions. The draws have the order of the Python tool.
type promptSource interface {
	// start draws the position of the next prompt.
	start() int
	// appendTokens appends n tokens from a position on.
	appendTokens(dst []int32, start, n int) []int32
	// topUp appends n tokens to a prompt whose text has too few.
	topUp(dst []int32, n int) []int32
	// prefix appends the n tokens that a pool prefix is generated from.
	prefix(dst []int32, n int) []int32
	// mark saves the state of the draws. The returned function restores it.
	mark() (reset func())
	// forPrompt returns the same source with separate draws for prompt i.
	forPrompt(i int) promptSource
}

// corpusSource cuts prompts out of a corpus. Each takes one draw for its position.
type corpusSource struct {
	*Corpus
	draws   *rng.Stream
	retries uint64 // seed of draws that the Python tool does not make
}

func (m *corpusSource) start() int { return m.draws.Below(m.Size()) }

func (m *corpusSource) appendTokens(dst []int32, start, n int) []int32 {
	return m.Append(dst, start, n)
}

func (m *corpusSource) topUp(dst []int32, n int) []int32 { return m.Append(dst, m.start(), n) }

func (m *corpusSource) prefix(dst []int32, n int) []int32 { return m.topUp(dst, n) }

func (m *corpusSource) mark() (reset func()) {
	before := m.draws.Python
	return func() { m.draws.Python = before }
}

func (m *corpusSource) forPrompt(i int) promptSource {
	own := *m
	own.draws = rng.NewStream(rng.ChildSeed(m.retries, strconv.Itoa(i)))
	return &own
}
