package capacity

import (
	"context"
	"errors"
	"math"
)

// Kept is how well the client kept the load of a cell.
type Kept struct {
	// Lost is the share of the schedule that it gave up because it stood still. What it offered is a load smaller by that share, as
	// random as it should be but for the pauses.
	Lost    float64
	Limited bool // it could not keep the load for reasons of its own: cores, ports, files
}

// Constants of what a client may do to a cell, chosen by simulation.
const (
	mostLost    = 0.05 // share of a schedule that it may give up
	mostMisses  = 3    // cells in a row at a load, with one between them that it kept at a smaller one, that make its ceiling
	mostLostRow = 12   // cells in a row that it could not keep at any load
	belowClient = 0.95 // of its ceiling, where a bound is looked for

	lessBound    = 0.8 // of a bound that was not kept again, for the next try
	ceilingWidth = 1.1 // of the ceiling to the highest load that was kept, at which it is known
)

// evidence tells whether a cell says something of the server.
func (k Kept) evidence() bool { return !k.Limited && k.Lost <= mostLost }

var (
	errClient    = errors.New("client")    // ends a search at the client's limit
	errDisturbed = errors.New("disturbed") // ends one whose client keeps no load for now
)

// offered notes a load that the client kept, and is the logarithm of what it offered of it.
func (s *search) offered(c *Cell, x float64) float64 {
	s.lost, s.misses[x] = 0, 0
	if c.Lost > 0 {
		c.Load *= 1 - c.Lost
		x = math.Log(c.Load)
	}
	s.sent = max(s.sent, c.Load)
	return x
}

// tried are the cells that said something.
func (s *search) tried() (n int) {
	for i := range s.ans.Cells {
		if !s.ans.Cells[i].Limited {
			n++
		}
	}
	return n
}

// missed takes in a cell that the client could not keep, which is no evidence of anything. Whatever disturbs a machine for a while can do that to any
// cell: a load is the client's ceiling when the client misses it again and again, keeps the highest one that it has kept before in between, and
// misses this one even then. Else the cell is given back as it is.
func (s *search) missed(ctx context.Context, c *Cell, x, shortest, longest float64, settle bool) (Cell, error) {
	c.Limited, c.State = true, Open
	s.ans.Cells = append(s.ans.Cells, *c)
	if s.Say != nil {
		s.Say(c)
	}
	s.misses[x]++
	if s.lost++; s.lost >= mostLostRow {
		return *c, errDisturbed
	}
	if s.ans.Seconds > s.Options.Seconds {
		return *c, nil
	}
	below := c.Load <= s.sent*(1+1e-9) // it has kept more than that: something else disturbed it
	switch n := s.misses[x]; {
	case n < mostMisses-1 || n < mostMisses && s.sent == 0:
	case below:
		return *c, nil
	case n >= mostMisses || s.ans.Ceiling > 0: // there is a ceiling, and this is below it: it is less than was thought
		s.ans.Ceiling = c.Load
		return *c, errClient
	default:
		control, err := s.cell(ctx, math.Log(s.sent), 2, 4, false)
		if err != nil {
			return *c, err
		}
		if control.Limited { // nor does it keep that now
			s.misses[x] = 0
			return *c, nil
		}
	}
	return s.cell(ctx, x, shortest, longest, settle)
}

// belowCeiling looks for the highest load that the client keeps, between the last one that it kept and the first that it did not, with short cells, and
// whether the server keeps that with a full one. A load that fails ends it: the answer is below the ceiling, and the search goes on.
func (s *search) belowCeiling(ctx context.Context) error {
	for !math.IsNaN(s.lo) && s.ans.Ceiling > ceilingWidth*math.Exp(s.lo) && s.ans.Seconds < s.Options.Seconds {
		x := math.Log(math.Sqrt(s.ans.Ceiling * math.Exp(s.lo)))
		c, err := s.cell(ctx, x, 2, 4, false)
		if failed, e := s.bound(&c, err, false); failed || e != nil {
			return e
		}
		if c.Limited && s.ans.Ceiling > c.Load || c.State == Fail { // disturbed, or a burst of bad requests
			break
		}
	}
	kept := s.lo // by a short cell, which is no proof
	s.lo = math.NaN()
	for x := math.Log(belowClient * s.ans.Ceiling); math.IsNaN(s.lo) && s.ans.Seconds < s.Options.Seconds; x, kept = kept, kept+math.Log(lessBound) {
		if math.IsNaN(x) {
			break
		}
		c, err := s.cell(ctx, x, 4, s.length(x, 1), true)
		if failed, e := s.bound(&c, err, true); failed || e != nil {
			return e
		}
	}
	return errClient
}

// bound takes in a cell below the client's ceiling, a full one or a short one; failed: it bounds the answer.
func (s *search) bound(c *Cell, err error, full bool) (failed bool, _ error) {
	switch {
	case errors.Is(err, errClient): // the ceiling is lower
		return false, nil
	case errors.Is(err, ErrTime): // no more can be known of the client's limit
		return false, errClient
	case err != nil || c.Limited:
		return false, err
	case c.State == Over || c.State == Fail && c.Bad >= plain:
		s.hi = math.Log(c.Load)
		s.bounded()
		return true, nil
	case c.State == Fail && full:
		s.hi = math.Log(c.Load)
		return true, nil
	case c.State != Fail && c.Bad <= s.allowed(c.Objective):
		s.lo = math.Log(c.Load)
	}
	return false, nil
}

// allowed is the share that an objective allows.
func (s *search) allowed(name string) float64 {
	for i := range s.Objectives {
		if s.Objectives[i].Name == name {
			return s.Objectives[i].Allowed
		}
	}
	return 0
}

// bounded has no answer be far above the load that failed.
func (s *search) bounded() {
	for _, p := range s.post {
		p.top = s.hi + .1
	}
}
