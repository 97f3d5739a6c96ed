// Package capacity finds the highest load at which a server meets objectives. It finds a bracket by doubling, then the Bayesian root of the share of
// requests that violate an objective. It has a stopping rule, an interval calibrated on simulated servers, and it refuses an answer where the client
// is the limit.
package capacity

import (
	"context"
	"errors"
	"math"
)

// Server offers a load and returns the results.
type Server interface {
	// Cell offers a load (requests per second, or users) for at most the last of looks, in s from its start. At each look it calls done with the
	// requests so far; true ends the cell.
	Cell(ctx context.Context, load float64, looks []float64, done func(at float64, list []Request) bool) (LoadFidelity, error)
	// Alone returns the median latency of a single user in s, and the requests behind it.
	Alone(ctx context.Context) (seconds float64, list []Request, err error)
}

// Options are the options of a search.
type Options struct {
	Objectives  []Objective
	Concurrency bool    // the load is a number of users instead of requests per second
	Fewest      int     // smallest number of users that can be offered; 0: one
	Start       float64 // first load; 0: the throughput of one user, or the fewest users
	Precision   float64 // relative half-width of the posterior at which the search stops
	Seconds     float64 // time limit of the search, in s
	Cells       int     // largest number of cells
	Size        float64 // expected bad requests of a full cell at the limit
	MaxLooks    int     // largest number of looks at a cell
	Say         func(c *Cell)
	Elapsed     func() float64 // returns s since the search began; nil: count only the time of the cells
}

// Constants of the method, chosen by simulation.
const (
	widen      = 2.0 // width of the stated interval as a multiple of the posterior's
	plain      = 0.1 // share of bad requests that ends the bracket
	firstCells = 3   // cells after the bracket before the search may settle
	minWash    = 4.0 // smallest length of a full cell, in wash-ins
	guardAbove = 0.3 // distance in logarithms above the answer within which a cell must have clearly failed
	guardStep  = 0.15
	maxGuards  = 3
	maxHolds   = 4
	pause      = 0.5 // s between cells
	fewAlone   = 5   // most answers of a single user before the first cell
	minHold    = 0.5 // share of the full length for a cell that confirms an answer
	maxProofs  = 3   // cells at half an answer that no lower load supports
)

// ErrTime ends a search: the remaining time is too short for the next cell. A Server may return it too.
var ErrTime = errors.New("the time is used up")

// errTooMany ends a search: the fewest users that can be offered are too many.
var errTooMany = errors.New("too many users")

// search is the state of a search.
type search struct {
	Options
	server  Server
	post    []*posterior
	ans     Answer
	latency float64 // mean latency of the last cell that met the objectives, s
	lo, hi  float64 // logarithms: the last pass, and the failure that ended the bracket; NaN
	sent    float64 // highest load that the client generated
	guards  int
	proofs  int
	held    float64         // logarithm of the load that confirmed the answer, if higher ones did not; NaN
	misses  map[float64]int // consecutive cells that the client could not generate, by the logarithm of their load
	lost    int             // consecutive cells that the client could not generate, at any load
	extra   float64         // s that the last cell took besides its wash-in and measured time
}

// Find runs a search. If it is interrupted, it returns what is known, with the reason Stopped.
func Find(ctx context.Context, server Server, o Options) (*Answer, error) {
	s := &search{Options: o, server: server, lo: math.NaN(), hi: math.NaN(), held: math.NaN(), misses: map[float64]int{}}
	alone, list, err := server.Alone(ctx)
	if err != nil {
		return nil, err
	}
	s.ans.Alone, s.latency = alone, alone
	s.spend(3 + alone)
	s.extra = max(0, s.ans.Seconds-min(3, fewAlone*alone))
	if name, broken := s.notMet(list); broken {
		s.ans.Why, s.ans.Binding = NotMet, name
		return &s.ans, nil
	}
	x := math.Log(1 / alone)
	if o.Concurrency {
		x = 0
	}
	if o.Start > 0 {
		x = math.Log(o.Start)
	}
	if o.Concurrency {
		x = s.round(x)
	}
	for i := range o.Objectives {
		s.post = append(s.post, newPosterior(x-1.5, x+7.5, o.Objectives[i].Allowed))
	}
	err = s.bracket(ctx, x)
	if err == nil {
		err = s.refine(ctx)
	}
	switch {
	case errors.Is(err, errTooMany):
		c := s.ans.Cells[len(s.ans.Cells)-1]
		s.ans.Why, s.ans.Binding = NotMet, c.Objective
		return &s.ans, nil
	case errors.Is(err, errClient):
		s.ans.Why = Client
	case errors.Is(err, errDisturbed):
		s.ans.Why = Disturbed
	case errors.Is(err, ErrTime):
		s.ans.Why = Time
	case errors.Is(err, errUnproven):
		s.ans.Why = Unproven
	case errors.Is(err, errUnsteady):
		s.ans.Why = Unsteady
	case ctx.Err() != nil:
		s.ans.Why = Stopped
	case err != nil:
		return nil, err
	}
	s.conclude()
	return &s.ans, nil
}

// spend adds the elapsed time, measured by a clock or as planned.
func (s *search) spend(planned float64) {
	if s.ans.Seconds += planned; s.Elapsed != nil {
		s.ans.Seconds = s.Elapsed()
	}
}

// fitCell shortens a cell to the remaining time and returns its measured time in s, without the wash-in. It returns ErrTime if less than the shortest
// length remains. It subtracts the overhead of the last cell: starting a run, and reading the answers in flight at its end.
func (s *search) fitCell(wash, shortest, longest float64) (float64, error) {
	left := s.Options.Seconds - s.ans.Seconds - max(s.extra, pause)
	if left < wash+shortest {
		s.ans.Left, s.ans.Needed = max(0, s.Options.Seconds-s.ans.Seconds), wash+shortest+max(s.extra, pause)
		return 0, ErrTime
	}
	return min(longest, left-wash), nil
}

// notMet reports whether a single user alone violates an objective: certainly more bad requests than allowed, or most of a few.
func (s *search) notMet(list []Request) (string, bool) {
	for k := range s.Objectives {
		o, bad, n := &s.Objectives[k], 0.0, 0
		for i := range list {
			if v := list[i].Values[k]; !math.IsNaN(v) {
				n++
				if v > o.Limit {
					bad++
				}
			}
		}
		if n == 0 {
			continue
		}
		if low, _ := limits(bad/float64(n), n, float64(n)); low > o.Allowed && bad/float64(n) >= plain {
			return o.Name, true
		}
	}
	return "", false
}

// binding returns the objective with the smallest capacity.
func (s *search) binding() int {
	best := 0
	for k := range s.post {
		if s.post[k].quantile(.5) < s.post[best].quantile(.5) {
			best = k
		}
	}
	return best
}

// round rounds the logarithm of a load to one that can be offered.
func (s *search) round(x float64) float64 {
	if s.Concurrency {
		return math.Log(max(1, float64(s.Fewest), math.Round(math.Exp(x))))
	}
	return x
}

// wash returns the length of the wash-in of a cell, in s.
func (s *search) wash() float64 { return max(3, 4*s.latency) }

// length returns the measured time of a full cell in s, multiplied by times for a cell that confirms an answer.
func (s *search) length(x, times float64) float64 {
	rate := math.Exp(x)
	if s.Concurrency {
		rate /= s.latency
	}
	longest := 0.0
	for i := range s.Objectives {
		longest = max(longest, s.Size/s.Objectives[i].Allowed/rate)
	}
	longest = max(longest, 20*s.latency, minWash*s.wash())
	return min(60*times, times*longest)
}

// cell runs a load and adds its result.
func (s *search) cell(ctx context.Context, x, shortest, longest float64, settle bool) (Cell, error) {
	x = s.round(x)
	wash := s.wash()
	longest, err := s.fitCell(wash, shortest, longest)
	if err != nil {
		return Cell{}, err
	}
	looks := []float64{wash + longest}
	if s.MaxLooks > 1 && longest > 1.2*shortest {
		looks = looks[:0]
		for i := range s.MaxLooks {
			looks = append(looks, wash+shortest*math.Pow(longest/shortest, float64(i)/float64(s.MaxLooks-1)))
		}
	}
	views := make([]view, len(s.Objectives))
	c := Cell{Load: math.Exp(x), Wash: wash}
	var latest []Request
	grew := false
	kept, err := s.server.Cell(ctx, c.Load, looks, func(at float64, list []Request) bool {
		latest, c.Seconds, c.State = list, at-wash, Pass
		for k := range s.Objectives {
			views[k] = evaluate(list, k, &s.Objectives[k], wash, at)
			c.State = worse(c.State, views[k].state(&s.Objectives[k], settle))
		}
		once := c.State == Over && !grew && !s.broken(views)
		grew = c.State == Over
		return c.State != Open && !once
	})
	before := s.ans.Seconds
	s.spend(wash + c.Seconds + pause)
	s.extra = max(0, s.ans.Seconds-before-wash-c.Seconds)
	if err != nil {
		return c, err
	}
	if c.Lost = kept.Lost; !kept.evidence() {
		return s.missed(ctx, &c, x, shortest, longest, settle)
	}
	x = s.offered(&c, x)
	for k := range views {
		s.post[k].put(views[k].observed(x, c.Seconds))
	}
	k := s.binding()
	c.N, c.Bad, c.Effective, c.Objective = views[k].n, views[k].share, views[k].effective, s.Objectives[k].Name
	for i := range views {
		if views[i].state(&s.Objectives[i], settle) == Fail && views[i].share >= c.Bad {
			c.Bad, c.Objective = views[i].share, s.Objectives[i].Name
		}
	}
	if c.State == Pass || c.State == Perhaps {
		s.keepLatency(latest, wash, wash+c.Seconds)
	}
	s.ans.Cells = append(s.ans.Cells, c)
	if s.Say != nil {
		s.Say(&c)
	}
	return c, nil
}

// broken reports whether certainly more requests are bad than allowed. A growing queue without bad requests counts only if it still grows at the next
// look: near the capacity, queues come and go.
func (s *search) broken(views []view) bool {
	for k := range views {
		if views[k].share > s.Objectives[k].Allowed {
			return true
		}
	}
	return false
}

// observed converts a view to an observation.
func (v *view) observed(x, seconds float64) observation {
	o := observation{x: x, share: v.share, n: float64(v.n), seconds: seconds}
	effective := v.effective
	over := v.growth > .02 && v.growthT > 4
	if over {
		o.share, effective = max(o.share, maxShare), max(effective, 20)
	}
	if v.n < 5 && !over {
		return observation{x: x, seconds: seconds}
	}
	o.tau = seconds / max(effective, 1)
	if over {
		o.n = max(o.n, 20)
	}
	return o
}

// order lists the states, the worst first.
var order = []State{Over, Fail, Open, Perhaps, Pass}

// worse returns the worse of two states.
func worse(a, b State) State {
	for _, s := range order {
		if a == s || b == s {
			return s
		}
	}
	return a
}

// keepLatency stores the mean latency of the requests that started in a cell that met the objectives.
func (s *search) keepLatency(list []Request, from, to float64) {
	sum, n := 0.0, 0.0
	for i := range list {
		if r := &list[i]; r.Start >= from && r.Start <= to && !math.IsInf(r.End, 1) {
			sum += r.End - r.Start
			n++
		}
	}
	if n > 0 {
		s.latency = sum / n
	}
}

// bracket doubles the load until it clearly fails. At the client's ceiling, one full cell just below it tests whether the server sustains that.
func (s *search) bracket(ctx context.Context, x float64) error {
	for s.ans.Seconds <= s.Options.Seconds && s.cellCount() < s.Options.Cells {
		c, err := s.cell(ctx, x, 2, 4, false)
		if errors.Is(err, errClient) {
			return s.belowCeiling(ctx)
		}
		if err != nil {
			return err
		}
		if c.Limited {
			continue
		}
		if c.State == Over || c.State == Fail && c.Bad >= plain {
			s.hi = math.Log(c.Load)
			if c.State == Over {
				s.ans.Failed = c.Load
			}
			s.bounded()
			if s.belowFewest(c.Load - 1) {
				return errTooMany
			}
			return nil
		}
		if c.State != Fail && c.Bad <= s.allowed(c.Objective) {
			s.lo = math.Log(c.Load)
		}
		x += math.Ln2
	}
	return nil
}

// belowFewest reports whether a number of users cannot be offered although it is one or more.
func (s *search) belowFewest(users float64) bool {
	return s.Concurrency && s.Fewest > 1 && users < float64(s.Fewest)
}

// refine narrows the posterior of the binding objective, then confirms the answer.
func (s *search) refine(ctx context.Context) error {
	second := false
	for tried := 0; ; {
		switch {
		case s.cellCount() >= s.Options.Cells:
			s.ans.Why = Many
			return nil
		case s.ans.Seconds >= s.Options.Seconds:
			s.ans.Why = Time
			return nil
		}
		p := s.post[s.binding()]
		m := p.quantile(.5)
		if tried >= firstCells && p.quantile(.95)-p.quantile(.05) < 2*s.Precision {
			if s.guards >= maxGuards || s.failedAbove(m, p.target) {
				if enough, err := s.prove(ctx, m); err != nil {
					return err
				} else if !enough {
					continue
				}
				return s.confirm(ctx)
			}
			s.guards++
			if _, err := s.cell(ctx, m+guardStep, 4, s.length(m+guardStep, 1), true); err != nil {
				return err
			}
			continue
		}
		x := p.quantile(.3)
		if second {
			x = p.quantile(.75)
		}
		second = !second
		if !math.IsNaN(s.hi) {
			x = min(x, s.hi)
		}
		if !math.IsNaN(s.lo) {
			x = max(x, s.lo-.2)
		}
		c, err := s.cell(ctx, x, 4, s.length(x, 1), true)
		if err != nil {
			return err
		}
		if !c.Limited {
			tried++
		}
	}
}

// failedAbove reports whether a cell just above the answer has clearly failed.
func (s *search) failedAbove(m, allowed float64) bool {
	for _, c := range s.ans.Cells {
		if x := math.Log(c.Load); x > m && x <= m+guardAbove && (c.State == Over || c.Bad >= 3*allowed) {
			return true
		}
	}
	return false
}

// conclude fills in the answer.
func (s *search) conclude() {
	a := &s.ans
	for _, c := range a.Cells {
		if c.State == Over && (a.Failed == 0 || c.Load < a.Failed) {
			a.Failed = c.Load
		}
	}
	k := s.binding()
	p := s.post[k]
	a.Binding = s.Objectives[k].Name
	if s.unsupported(k) {
		return
	}
	m, l, h := p.quantile(.5), p.quantile(.05), p.quantile(.95)
	low, high := math.Exp(m-widen*(m-l)), math.Exp(m+widen*(h-m))
	if !math.IsNaN(s.held) {
		m, low = s.held, min(low, math.Exp(s.held))
	}
	if a.Why == Client && math.IsNaN(s.hi) {
		a.AtLeast = 0
		if !math.IsNaN(s.lo) {
			a.AtLeast = math.Exp(s.lo)
		}
		return
	}
	if a.Why == Client {
		a.AtLeast = low
		return
	}
	a.Low, a.High, a.AtLeast = low, high, low
	if math.IsNaN(s.hi) { // nothing failed, so there is no answer
		a.Low, a.High, a.AtLeast = 0, math.Inf(1), p.atLeast()
		if a.Why == "" {
			a.Why = Time
		}
		return
	}
	if a.Capacity = math.Exp(m); s.Concurrency {
		a.Capacity = math.Round(a.Capacity)
	}
	if a.Why != Settled && !s.supported(k, m) { // the model alone supports the lower end
		a.Low, a.AtLeast = 0, 0
	}
	if s.belowFewest(a.Capacity) {
		*a = Answer{Why: NotMet, Binding: a.Binding, Seconds: a.Seconds, Cells: a.Cells, Alone: a.Alone, Failed: a.Failed}
	}
}
