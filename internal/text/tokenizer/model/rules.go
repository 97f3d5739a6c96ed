package model

import (
	"fmt"
	"strings"

	"aiperf/internal/base/processors"
)

// Rules adds the rules of a BPE model, in order of rank. Batches of rules look up their tokens in parallel on all cores, because lookups in a large
// vocabulary mostly wait for memory. The batches are inserted into the table in order.
type Rules struct {
	m     *BPE
	fill  *ruleBatch
	queue chan *ruleBatch
	used  chan *ruleBatch // batches for reuse
	done  chan error
}

// perBatch is the number of rules in a batch.
const perBatch = 4096

// ruleBatch holds consecutive rules: their texts, then their tokens.
type ruleBatch struct {
	ranks        []uint32
	text         []byte   // left and right text of each rule, concatenated
	ends         []uint32 // end of each
	rules        []rule
	crossedBytes []byte // last bytes before the word starts that rules cross
	err          error  // error of the first invalid rule
	ready        chan struct{}
}

type rule struct{ left, right, merged int32 }

// NewRules starts to add rules to m. Close must be called before m is used.
func NewRules(m *BPE) *Rules {
	n := processors.Cores()
	r := &Rules{m: m, queue: make(chan *ruleBatch, n), used: make(chan *ruleBatch, n+2), done: make(chan error, 1)}
	go func() { r.done <- r.insert() }()
	return r
}

// Add adds a rule: the adjacent tokens a and b become one. Ranks must increase.
func (r *Rules) Add(a, b []byte, rank int) {
	if r.fill == nil {
		r.fill = r.batch()
	}
	f := r.fill
	f.text = append(f.text, a...)
	f.ends = append(f.ends, uint32(len(f.text)))
	f.text = append(f.text, b...)
	f.ends = append(f.ends, uint32(len(f.text)))
	f.ranks = append(f.ranks, uint32(rank))
	if len(f.ranks) == perBatch {
		r.send()
	}
}

// batch returns an empty batch, a used one if possible.
func (r *Rules) batch() *ruleBatch {
	b := &ruleBatch{}
	select {
	case b = <-r.used:
	default:
		b.text, b.ends, b.rules = make([]byte, 0, 16*perBatch), make([]uint32, 0, 2*perBatch), make([]rule, 0, perBatch)
		b.ranks = make([]uint32, 0, perBatch)
	}
	b.ranks, b.text, b.ends, b.rules, b.ready = b.ranks[:0], b.text[:0], b.ends[:0], b.rules[:0], make(chan struct{})
	return b
}

func (r *Rules) send() {
	if b := r.fill; b != nil {
		go r.m.resolve(b)
		r.queue <- b
		r.fill = nil
	}
}

// Close waits until all rules are in the model. It returns the error of the first rule whose tokens are not in the vocabulary.
func (r *Rules) Close() error {
	r.send()
	close(r.queue)
	return <-r.done
}

// insert inserts the rules into the table, batch by batch.
func (r *Rules) insert() (err error) {
	for b := range r.queue {
		<-b.ready
		if err != nil {
			continue
		}
		for _, c := range b.crossedBytes {
			r.m.crossedBytes[c] = true
		}
		for i, x := range b.rules {
			r.m.pairs.put(x.left, x.right, b.ranks[i], x.merged)
		}
		err = b.err
		select {
		case r.used <- b:
		default:
		}
	}
	return err
}

// resolve looks up the tokens of a batch.
func (m *BPE) resolve(b *ruleBatch) {
	defer close(b.ready)
	b.crossedBytes = b.crossedBytes[:0]
	var buf []byte
	last, begin := None, uint32(0)
	for i := 0; i < len(b.ends); i += 2 {
		left, right := b.text[begin:b.ends[i]], b.text[b.ends[i]:b.ends[i+1]]
		joined := b.text[begin:b.ends[i+1]]
		begin = b.ends[i+1]
		if m.prefix != "" {
			buf = append(append(buf[:0], left...), strings.TrimPrefix(string(right), m.prefix)...)
			joined = buf
		}
		x := rule{left: m.symbol(left), right: m.symbol(right), merged: m.idNear(joined, last)}
		last = x.merged
		for _, y := range []struct {
			id   int32
			text []byte
		}{{x.left, left}, {x.right, right}, {x.merged, joined}} {
			if y.id == None {
				b.err = fmt.Errorf("model.merges[%d] (%q %q): the token %q is not in model.vocab", b.ranks[i/2], left, right, y.text)
				return
			}
		}
		b.rules = append(b.rules, x)
		if len(left) > 0 && strings.HasPrefix(string(right), space) && !strings.HasSuffix(string(left), space) {
			b.crossedBytes = append(b.crossedBytes, left[len(left)-1])
		}
	}
}

// symbol returns a token of a rule.
func (m *BPE) symbol(text []byte) int32 {
	if m.bytes && len(text) == 1 {
		return m.one[text[0]]
	}
	return m.vocab.id(text, 0)
}

// idNear looks up a token that is probably last or its neighbour. Rules are in the order of their results, so these texts are in the CPU cache.
func (m *BPE) idNear(text []byte, last int32) int32 {
	for _, id := range [...]int32{last, last + 1} {
		if t := m.vocab.Text(id); t != nil && string(t) == string(text) {
			return id
		}
	}
	return m.vocab.id(text, 0)
}
