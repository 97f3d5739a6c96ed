package synth

import (
	"strconv"

	"aiperf/internal/rng"
)

// Vocabulary is what prompts of random token ids are made from, instead of a corpus.
type Vocabulary struct {
	Allowed []int32 // ids that prompts are made of, ascending
	All     []int32 // ids that complete a prompt whose text counts too few, ascending
	Size    int     // of the vocabulary: places are drawn below it when lengths are drawn in a window
}

// integers is a generator of uniform whole numbers in [low, high).
type integers interface {
	Integers(low, high int) int
}

// generator is one of the two generators of numpy, which can be noted and gone back to.
type generator struct {
	numpy  *rng.Numpy
	legacy *rng.Legacy // used when it is there
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

// randomMaterial makes prompts of ids that follow each other in the vocabulary, as vLLM's and SGLang's benchmarks do: prompt number i begins
// at a place drawn plus i.
type randomMaterial struct {
	Vocabulary
	draws   *generator // of the stream of prompts
	shared  *generator // with which lengths and places were drawn ahead; nil = they were not
	places  []int      // drawn ahead, one for each entry
	next    int        // place to take
	number  int        // prompts so far
	retries uint64
}

func newRandomMaterial(v Vocabulary, root *rng.Root) *randomMaterial {
	return &randomMaterial{Vocabulary: v, draws: &generator{numpy: root.Stream((*Corpus)(nil).streams().corpus).Numpy()}, retries: root.Child("dataset.prompt.retry")}
}

// ahead draws the places of n prompts from a generator that has drawn their lengths.
func (m *randomMaterial) ahead(n int, g *generator) {
	m.shared, m.places = g, make([]int, n)
	for i := range m.places {
		m.places[i] = g.Integers(0, m.Size)
	}
}

func (m *randomMaterial) start() int {
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

func (m *randomMaterial) cut(dst []int32, start, n int) []int32 {
	for ; n > 0; start = 0 {
		part := m.Allowed[start:min(len(m.Allowed), start+n)]
		dst = append(dst, part...)
		n -= len(part)
	}
	return dst
}

func (m *randomMaterial) topUp(dst []int32, n int) []int32 { return m.scatter(dst, m.All, n) }

func (m *randomMaterial) prefix(dst []int32, n int) []int32 { return m.scatter(dst, m.Allowed, n) }

// scatter appends n ids out of a list, each drawn on its own.
func (m *randomMaterial) scatter(dst, list []int32, n int) []int32 {
	var g integers = m.draws
	if m.shared != nil {
		g = m.shared
	}
	for range n {
		dst = append(dst, list[g.Integers(0, len(list))])
	}
	return dst
}

func (m *randomMaterial) mark() (reset func()) {
	next, number, draws := m.next, m.number, m.draws.clone()
	var shared generator
	if m.shared != nil {
		shared = m.shared.clone()
	}
	return func() {
		m.next, m.number, *m.draws = next, number, draws
		if m.shared != nil {
			*m.shared = shared
		}
	}
}

func (m *randomMaterial) apart(i int) material {
	return &randomMaterial{Vocabulary: m.Vocabulary, draws: &generator{numpy: rng.NewNumpy(rng.ChildSeed(m.retries, strconv.Itoa(i)))}}
}
