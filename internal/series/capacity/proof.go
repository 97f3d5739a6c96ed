package capacity

import (
	"context"
	"errors"
	"math"
)

// Constants of the proof that some load meets the objectives.
const (
	clearlyBelow = 0.1 // distance of logarithms from the answer at which a cell supports it
	// Numbers of requests, in multiples of the inverse of the allowed share, after which a share of at most the allowed one, or half of it, is accepted. If the
	// true share is 1.6 times the allowed one, chance accepts it in 2 of 100 cases.
	wellKnown, halfKnown = 20, 5
)

var (
	errUnproven = errors.New("unproven") // ends a search: no clearly lower load was seen to meet the objectives
	errUnsteady = errors.New("unsteady") // ends a search: the answer was not confirmed
)

// Evidence is the pooled result of several cells for one objective.
type Evidence struct {
	N       int     // requests
	Bad     float64 // share of them that missed the objective
	Allowed float64
	Highest float64 // highest load among the cells
	size    float64 // independent requests
}

// evidence pools the cells of an objective up to a load, given by its logarithm.
func (p *posterior) evidence(most float64) (e Evidence) {
	bad := 0.0
	for i := range p.observations {
		o := &p.observations[i]
		if o.x > most || o.n < 1 {
			continue
		}
		size := o.n
		if o.tau > 0 {
			size = min(o.n, max(1, o.seconds/o.tau))
		}
		e.N += int(o.n)
		bad += o.share * o.n
		e.size += size
		e.Highest = max(e.Highest, math.Exp(o.x))
	}
	if e.Allowed = p.target; e.N > 0 {
		e.Bad = bad / float64(e.N)
	}
	return e
}

// atLeast returns the highest load for which the cells of that load and of higher ones met the objective; 0 = there is none. A lower load that meets it
// says nothing about a higher one.
func (p *posterior) atLeast() (load float64) {
	for i := range p.observations {
		x := p.observations[i].x
		from := posterior{target: p.target}
		for _, o := range p.observations {
			if o.x >= x-1e-9 {
				from.observations = append(from.observations, o)
			}
		}
		if e := from.evidence(math.Inf(1)); e.meets() {
			load = max(load, math.Exp(x))
		}
	}
	return load
}

// meets reports whether the objective is certainly met, or met by a well-known share.
func (e *Evidence) meets() bool {
	if e.N == 0 || e.Bad > e.Allowed {
		return false
	}
	_, high := limits(e.Bad, e.N, e.size)
	return high < e.Allowed || e.size >= wellKnown/e.Allowed || e.Bad <= e.Allowed/2 && e.size >= halfKnown/e.Allowed
}

// misses reports whether the objective is certainly missed.
func (e *Evidence) misses() bool {
	if e.N == 0 {
		return false
	}
	low, _ := limits(e.Bad, e.N, e.size)
	return low > e.Allowed
}

// below returns the evidence of the loads that support a capacity, given by its logarithm: those clearly below it. No number of users is below the
// fewest.
func (s *search) below(k int, m float64) Evidence {
	most := m - clearlyBelow
	if s.Concurrency {
		most = max(most, s.round(math.Inf(-1)))
	}
	return s.post[k].evidence(most + 1e-9)
}

// supported reports whether the loads up to an answer, or up to any lower load, met the objective.
func (s *search) supported(k int, m float64) bool {
	p := s.post[k]
	m = s.round(m)
	for i := range p.observations {
		if x := p.observations[i].x; x <= m+1e-9 {
			if e := p.evidence(x); e.meets() {
				return true
			}
		}
	}
	return false
}

// prove tests half the answer if no lower load supports the answer yet. The model of the search assumes that a low load meets the objective; a server
// that fails some requests at every load would else get a capacity. enough tells that the answer is supported; otherwise it may have changed.
func (s *search) prove(ctx context.Context, m float64) (enough bool, err error) {
	if s.supported(s.binding(), m) {
		return true, nil
	}
	if s.proofs >= maxProofs {
		return false, errUnproven
	}
	s.proofs++
	x := s.round(m - math.Ln2)
	_, err = s.cell(ctx, x, 4, s.length(x, 2), true)
	return false, err
}

// confirm tests the answer with a longer cell. If it fails, it tests the new answer, and then lower loads. If none holds, the server has changed.
func (s *search) confirm(ctx context.Context) error {
	most := math.Inf(1)
	for i := range maxHolds {
		m := min(s.post[s.binding()].quantile(.5), most)
		if s.Concurrency && s.passed(m) { // a smaller number of users than the one that failed
			s.held, s.ans.Why = m, Settled
			return nil
		}
		longest := s.length(m, 2)
		c, err := s.cell(ctx, m, max(8, minHold*longest), longest, true)
		if err != nil {
			return err
		}
		switch {
		case c.Limited:
			continue
		case c.State == Pass || c.State == Open:
			if s.ans.Why = Settled; !math.IsInf(most, 1) {
				s.held = math.Log(c.Load)
			}
			return nil
		case s.Concurrency:
			if most = s.round(math.Log(c.Load - 1)); most >= math.Log(c.Load)-1e-9 {
				return errUnsteady
			}
		case i > 0:
			most = math.Log(c.Load) - s.Precision
		}
	}
	return errUnsteady
}

// passed reports whether a full cell of a load, given by its logarithm, met the objectives.
func (s *search) passed(x float64) bool {
	for i := range s.ans.Cells {
		c := &s.ans.Cells[i]
		if c.State == Pass && !c.Limited && math.Abs(math.Log(c.Load)-s.round(x)) < 1e-9 {
			return true
		}
	}
	return false
}

// unsupported reports whether an answer has no meaning, because lower loads miss the objective too or because the answer was not confirmed. It then
// sets what is known instead.
func (s *search) unsupported(k int) bool {
	a := &s.ans
	m := s.post[k].quantile(.5)
	below := s.below(k, m)
	if below.N == 0 { // no cell is below the answer: the lowest ones must do
		least := math.Inf(1)
		for i := range s.post[k].observations {
			if o := &s.post[k].observations[i]; o.n >= 1 {
				least = min(least, o.x)
			}
		}
		below = s.post[k].evidence(least + clearlyBelow)
	}
	a.Below = below
	switch {
	case a.Why == Unsteady:
	case below.misses():
		a.Why = NotMet
	case a.Why == Unproven:
	default:
		return false
	}
	a.Capacity, a.Low, a.High, a.AtLeast = 0, 0, 0, 0
	return true
}
