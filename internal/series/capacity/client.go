package capacity

import (
	"context"
	"errors"
	"math"
)

// LoadFidelity is how well the client generated the load of a cell.
type LoadFidelity struct {
	// Lost is the share of the schedule that was dropped because the client was paused. The offered load is smaller by that share, but equally random
	// apart from the pauses.
	Lost    float64
	Limited bool // the client itself was the limit: cores, ports, files
}

// Limits for the disturbance of a cell by the client, chosen by simulation.
const (
	maxLost     = 0.05 // largest share of a schedule that may be dropped
	maxMisses   = 3    // consecutive missed cells at a load that make it the ceiling, if the client generates a smaller load in between
	maxLostRow  = 12   // consecutive cells that were missed at any load
	belowClient = 0.95 // of the client's ceiling, where a bound is searched for

	lessBound    = 0.8 // factor for the next try, after a bound was not confirmed
	ceilingWidth = 1.1 // ratio of the ceiling to the highest generated load at which the ceiling counts as known
)

// evidence reports whether a cell says anything about the server.
func (k LoadFidelity) evidence() bool { return !k.Limited && k.Lost <= maxLost }

var (
	errClient    = errors.New("client")    // ends a search at the limit of the client
	errDisturbed = errors.New("disturbed") // ends a search whose client generates no load at present
)

// offered records a load that the client generated. It returns the logarithm of the load that was actually offered.
func (s *search) offered(c *Cell, x float64) float64 {
	s.lost, s.misses[x] = 0, 0
	if c.Lost > 0 {
		c.Load *= 1 - c.Lost
		x = math.Log(c.Load)
	}
	s.sent = max(s.sent, c.Load)
	return x
}

// cellCount returns the number of cells that are evidence.
func (s *search) cellCount() (n int) {
	for i := range s.ans.Cells {
		if !s.ans.Cells[i].Limited {
			n++
		}
	}
	return n
}

// missed handles a cell whose load the client could not generate; such a cell is not counted. A temporary disturbance can cause that at any load. So a
// load becomes the client's ceiling only if the client misses it repeatedly, although it generates its highest earlier load in between. Otherwise the
// cell is returned as it is.
func (s *search) missed(ctx context.Context, c *Cell, x, shortest, longest float64, settle bool) (Cell, error) {
	c.Limited, c.State = true, Open
	s.ans.Cells = append(s.ans.Cells, *c)
	if s.Say != nil {
		s.Say(c)
	}
	s.misses[x]++
	if s.lost++; s.lost >= maxLostRow {
		return *c, errDisturbed
	}
	if s.ans.Seconds > s.Options.Seconds {
		return *c, nil
	}
	below := c.Load <= s.sent*(1+1e-9) // the client has generated more than that, so something else disturbed it
	switch n := s.misses[x]; {
	case n < maxMisses-1 || n < maxMisses && s.sent == 0:
	case below:
		return *c, nil
	case n >= maxMisses || s.ans.Ceiling > 0: // there is a ceiling, and this load is below it: the ceiling is lower than assumed
		s.ans.Ceiling = c.Load
		return *c, errClient
	default:
		control, err := s.cell(ctx, math.Log(s.sent), 2, 4, false)
		if err != nil {
			return *c, err
		}
		if control.Limited { // the client does not generate the smaller load now either
			s.misses[x] = 0
			return *c, nil
		}
	}
	return s.cell(ctx, x, shortest, longest, settle)
}

// belowCeiling searches for the highest load that the client generates, between the last success and the first miss, with short cells. Then a full
// cell tests whether the server sustains it. If a load fails, the answer is below the ceiling, and the search continues.
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
	kept := s.lo // from a short cell, which proves nothing
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

// bound handles a short or full cell below the client's ceiling. failed means that the load is an upper limit of the answer.
func (s *search) bound(c *Cell, err error, full bool) (failed bool, _ error) {
	switch {
	case errors.Is(err, errClient): // the ceiling is lower
		return false, nil
	case errors.Is(err, ErrTime): // nothing more can be learnt about the client's limit
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

// allowed returns the share that an objective allows.
func (s *search) allowed(name string) float64 {
	for i := range s.Objectives {
		if s.Objectives[i].Name == name {
			return s.Objectives[i].Allowed
		}
	}
	return 0
}

// bounded limits the answer to a load just above the one that failed.
func (s *search) bounded() {
	for _, p := range s.post {
		p.top = s.hi + .1
	}
}
