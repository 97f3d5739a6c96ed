package synth

import (
	"strconv"

	"aiperf/internal/base/rng"
)

// Vocabulary is the source of prompts of random token ids, instead of a corpus.
type Vocabulary struct {
	Allowed []int32 // ids that prompts consist of, ascending
	All     []int32 // ids that are added to a prompt whose text has too few tokens, ascending
	Size    int     // size of the vocabulary: with a window of lengths, positions are drawn below it
}

// integers generates uniform integers in [low, high).
type integers interface {
	Integers(low, high int) int
}

// generator is one of the two random generators of numpy. Its state can be saved and restored.
type generator struct {
	numpy  *rng.Numpy
	legacy *rng.Legacy // replaces numpy if set
}

func (g *generator) Integers(low, high int) int {
	if g.legacy != nil {
		return g.legacy.Integers(low, high)
	}
	return g.numpy.Integers(low, high)
}

func (g *generator) clone() generator {
	if g.legacy != nil {
		return generator{legacy: g.legacy.Clone()}
	}
	return generator{numpy: g.numpy.Clone()}
}

// randomSource generates prompts of consecutive ids of the vocabulary, like the benchmarks of vLLM and SGLang. Prompt number i starts at a drawn
// position plus i.
type randomSource struct {
	Vocabulary
	draws      *generator // stream of prompts
	aheadDraws *generator // generator of the lengths and positions that were drawn ahead; nil = none were
	places     []int      // positions drawn ahead, one per entry
	next       int        // index of the next position
	number     int        // number of prompts so far
	retries    uint64
}

func newRandomSource(v Vocabulary, root *rng.Root) *randomSource {
	return &randomSource{Vocabulary: v, draws: &generator{numpy: root.Stream((*Corpus)(nil).streams().corpus).Numpy()}, retries: root.Child("dataset.prompt.retry")}
}

// ahead draws the positions of n prompts from the generator that has drawn their lengths.
func (m *randomSource) ahead(n int, g *generator) {
	m.aheadDraws, m.places = g, make([]int, n)
	for i := range m.places {
		m.places[i] = g.Integers(0, m.Size)
	}
}

func (m *randomSource) start() int {
	var at int
	if m.next < len(m.places) {
		at = m.places[m.next]
		m.next++
	} else {
		at = m.draws.Integers(0, len(m.Allowed))
	}
	at = (at + m.number) % len(m.Allowed)
	m.number++
	return at
}

func (m *randomSource) appendTokens(dst []int32, start, n int) []int32 {
	for ; n > 0; start = 0 {
		part := m.Allowed[start:min(len(m.Allowed), start+n)]
		dst = append(dst, part...)
		n -= len(part)
	}
	return dst
}

func (m *randomSource) topUp(dst []int32, n int) []int32 { return m.scatter(dst, m.All, n) }

func (m *randomSource) prefix(dst []int32, n int) []int32 { return m.scatter(dst, m.Allowed, n) }

// scatter appends n ids, each drawn independently from list.
func (m *randomSource) scatter(dst, list []int32, n int) []int32 {
	var g integers = m.draws
	if m.aheadDraws != nil {
		g = m.aheadDraws
	}
	for range n {
		dst = append(dst, list[g.Integers(0, len(list))])
	}
	return dst
}

func (m *randomSource) mark() (reset func()) {
	next, number, draws := m.next, m.number, m.draws.clone()
	var shared generator
	if m.aheadDraws != nil {
		shared = m.aheadDraws.clone()
	}
	return func() {
		m.next, m.number, *m.draws = next, number, draws
		if m.aheadDraws != nil {
			*m.aheadDraws = shared
		}
	}
}

func (m *randomSource) forPrompt(i int) promptSource {
	return &randomSource{Vocabulary: m.Vocabulary, draws: &generator{numpy: rng.NewNumpy(rng.ChildSeed(m.retries, strconv.Itoa(i)))}}
}
