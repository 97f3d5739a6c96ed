// Package pipeline runs text through the steps of a tokenizer: added tokens, normaliser, pre-tokenizer, model.
package pipeline

import (
	"sync"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/pretoken"
	"aiperf/internal/text/tokenizer/utf8repair"
)

// Model encodes one piece: it appends the ids of piece to dst.
type Model interface {
	Append(dst []int32, piece string, s *model.Scratch) []int32
}

// Normalizer rewrites a text before it is split.
type Normalizer interface {
	Normalize(b *budget.Budget, s string) string
}

// Pipeline converts text to ids for one tokenizer. Its fields must not change after the first use. It is safe for concurrent use.
type Pipeline struct {
	Raw        *addedtokens.Matcher // tokens searched for in the original text
	Normalized *addedtokens.Matcher // tokens searched for in the normalised text
	Normalizer Normalizer           // nil = none
	Stages     []pretoken.Stage
	Model      Model
	Decoder    Decoder

	pool sync.Pool // of *encoder
}

// The cost of work on a text, in steps of the regular expression engine.
const (
	shortByte = 16      // per byte of a piece of usual length
	longByte  = 128     // per byte of a long piece, which does not fit into a CPU cache
	longPiece = 4 << 10 // bytes
)

// Limits returns the limits for encoding a text of n bytes: many times the need of published tokenizers.
func Limits(n int) budget.Limits {
	return budget.Limits{Steps: 4<<20 + 1<<10*int64(n), Bytes: 64<<20 + 64*int64(n)}
}

// Append appends the ids of text to dst. An error means that a limit was exceeded; then the ids are incomplete.
func (p *Pipeline) Append(l budget.Limits, dst []int32, text string) ([]int32, error) {
	e := p.encoder(l)
	e.dst = dst
	e.encode(utf8repair.Valid(text))
	dst, e.dst = e.dst, nil
	err := e.budget.Err()
	p.release(e)
	return dst, err
}

// Count returns the number of ids of text. An error means that a limit was exceeded.
func (p *Pipeline) Count(l budget.Limits, text string) (int, error) {
	e := p.encoder(l)
	e.dst, e.counting, e.counted = e.buf[:0], true, 0
	e.encode(utf8repair.Valid(text))
	n := e.counted + len(e.dst)
	e.counting = false
	if e.buf, e.dst = e.dst, nil; cap(e.buf) > 2*countedIDs {
		e.buf = nil
	}
	err := e.budget.Err()
	p.release(e)
	return n, err
}

func (p *Pipeline) encoder(l budget.Limits) *encoder {
	if e, ok := p.pool.Get().(*encoder); ok {
		e.budget.Reset(l)
		return e
	}
	e := &encoder{p: p, budget: budget.New(l), links: make([]link, len(p.Stages))}
	e.head = e
	for i := len(p.Stages) - 1; i >= 0; i-- {
		e.links[i] = link{p.Stages[i], e.head}
		e.head = &e.links[i]
	}
	return e
}

func (p *Pipeline) release(e *encoder) {
	e.scratch.Trim()
	p.pool.Put(e)
}

// encoder is the state of one encode call.
type encoder struct {
	p       *Pipeline
	links   []link
	head    pretoken.Sink // first stage, or the encoder itself
	dst     []int32
	scratch model.Scratch
	budget  *budget.Budget // budget of the text

	// For Count:
	buf      []int32
	counting bool
	counted  int // number of ids that were dropped
}

// link is one stage and its successor.
type link struct {
	stage pretoken.Stage
	next  pretoken.Sink
}

// Piece implements pretoken.Sink.
func (l *link) Piece(s string, first bool) { l.stage.Split(s, first, l.next) }

// Budget implements pretoken.Sink.
func (l *link) Budget() *budget.Budget { return l.next.Budget() }

// Budget implements pretoken.Sink.
func (e *encoder) Budget() *budget.Budget { return e.budget }

// countedIDs is the number of ids that Count stores before it drops them.
const countedIDs = 1 << 15

// Piece implements pretoken.Sink at the end of the chain.
func (e *encoder) Piece(s string, _ bool) {
	cost := shortByte
	if len(s) > longPiece {
		cost = longByte
	}
	if e.budget.Step(int64(cost*len(s))) != nil {
		return
	}
	e.scratch.Budget = e.budget
	e.dst = e.p.Model.Append(e.dst, s, &e.scratch)
	if e.counting && len(e.dst) >= countedIDs {
		e.counted += len(e.dst)
		e.dst = e.dst[:0]
	}
}

// encode searches for the added tokens of the raw text.
func (e *encoder) encode(s string) {
	from, search := 0, 0
	for e.budget.Err() == nil {
		x, ok := e.p.Raw.Next(s, from, search)
		if !ok {
			break
		}
		if x.Begin > from {
			e.segment(s[from:x.Begin], from == 0)
		}
		e.dst = append(e.dst, x.Token.ID)
		from, search = x.End, x.Next
	}
	e.segment(s[from:], from == 0)
}

// segment normalises a text without raw added tokens and searches for the others.
func (e *encoder) segment(s string, first bool) {
	if s == "" {
		return
	}
	if e.p.Normalizer != nil {
		if s = e.p.Normalizer.Normalize(e.budget, s); e.budget.Err() != nil {
			return
		}
	}
	from, search := 0, 0
	for {
		x, ok := e.p.Normalized.Next(s, from, search)
		if !ok {
			break
		}
		if x.Begin > from {
			e.head.Piece(s[from:x.Begin], first && from == 0)
		}
		e.dst = append(e.dst, x.Token.ID)
		from, search = x.End, x.Next
	}
	if from < len(s) {
		e.head.Piece(s[from:], first && from == 0)
	}
}
