// Package capacity finds the highest load at which a server keeps objectives: a bracket by doubling, then a Bayesian root of the share of requests
// that break an objective, with a stopping rule, an interval that was calibrated on simulated servers, and a refusal where the client is the limit.
package capacity

import (
	"context"
	"errors"
	"math"
)

// Server offers a load and tells what became of it.
type Server interface {
	// Cell offers a load (requests per second, or users) for at most the last of looks, in s from its beginning, and calls done at each look with the
	// requests so far; true ends it.
	Cell(ctx context.Context, load float64, looks []float64, done func(at float64, list []Request) bool) (Kept, error)
	// Alone is the median latency of one user, in s, and the requests that told it.
	Alone(ctx context.Context) (seconds float64, list []Request, err error)
}

// Options of a search.
type Options struct {
	Objectives  []Objective
	Concurrency bool    // users in place of requests per second
	Start       float64 // first load; 0: what one user does, or one user
	Precision   float64 // half-width of the posterior at which to stop, relative
	Seconds     float64 // that the search may take
	Cells       int     // that it may take
	Size        float64 // expected bad requests of a full cell at the limit
	Looks       int     // at a cell
	Say         func(c *Cell)
	Elapsed     func() float64 // s since the search began; nil: what its cells take by themselves
}

// Cell is a load that was tried.
type Cell struct {
	Load      float64 `json:"x"`
	Wash      float64 `json:"wash_s"`
	Seconds   float64 `json:"seconds"` // counted
	N         int     `json:"n"`
	Bad       float64 `json:"bad"`       // share of the binding objective
	Effective float64 `json:"effective"` // independent requests
	State     State   `json:"state"`
	Objective string  `json:"objective"`
	Lost      float64 `json:"client_lost"` // share of the schedule that the client gave up; the load is what it offered
	Limited   bool    `json:"client_limited"`
}

// Why a search ended.
const (
	Settled   = "settled"
	Time      = "time"
	Many      = "cells"
	Client    = "client"
	Disturbed = "disturbed" // the client kept no load any more, low ones neither
	NotMet    = "not met"
	Stopped   = "stopped"
)

// Answer is what a search found.
type Answer struct {
	Capacity  float64 // 0: there is only a bound
	Low, High float64 // of the 90 % interval
	AtLeast   float64
	Binding   string // objective
	Why       string
	Seconds   float64
	Cells     []Cell
	Ceiling   float64 // load that the client could not keep; 0: there is none
	Alone     float64 // s, latency of one user
	Failed    float64 // lowest load above the capacity at which the queue grew without end; 0: none
	// Left and Needed are s: what was left of the time when the search ended, and what the next cell would have taken at least. 0: no cell was left out.
	Left, Needed float64
}

// Constants of the method, chosen by simulation.
const (
	widen       = 2.0 // the stated interval in posterior's
	plain       = 0.1 // share of bad requests that ends the bracket
	firstCells  = 3   // after the bracket, before it may settle
	leastOfWash = 4.0 // length of a full cell, in wash-ins
	guardAbove  = 0.3 // logarithm up to which something must have failed clearly
	guardStep   = 0.15
	mostGuards  = 3
	mostHolds   = 4
	pause       = 0.5 // s between cells
	fewAlone    = 5   // answers of one user at the most, before the first cell
	leastHold   = 0.5 // of the full length of the cell that holds an answer
)

// ErrTime ends a search: the time that is left is too short for the next cell. A Server may return it as well.
var ErrTime = errors.New("the time is used up")

// search is a search under way.
type search struct {
	Options
	server  Server
	post    []*posterior
	ans     Answer
	latency float64 // mean of the last cell that kept the objectives, s
	lo, hi  float64 // logarithms: the last that passed, the one that ended the bracket; NaN
	sent    float64 // highest load that the client kept
	guards  int
	misses  map[float64]int // cells in a row that the client could not keep, by the logarithm of their load
	lost    int             // cells in a row that the client could not keep, at whatever load
	extra   float64         // s that the last cell took beside its wash-in and what it counted
}

// Find searches. An interrupted search gives what is known, and the reason Stopped.
func Find(ctx context.Context, server Server, o Options) (*Answer, error) {
	s := &search{Options: o, server: server, lo: math.NaN(), hi: math.NaN(), misses: map[float64]int{}}
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
	for i := range o.Objectives {
		s.post = append(s.post, newPosterior(x-1.5, x+7.5, o.Objectives[i].Allowed))
	}
	err = s.bracket(ctx, x)
	if err == nil {
		err = s.refine(ctx)
	}
	switch {
	case errors.Is(err, errClient):
		s.ans.Why = Client
	case errors.Is(err, errDisturbed):
		s.ans.Why = Disturbed
	case errors.Is(err, ErrTime):
		s.ans.Why = Time
	case ctx.Err() != nil:
		s.ans.Why = Stopped
	case err != nil:
		return nil, err
	}
	s.conclude()
	return &s.ans, nil
}

// spend notes the time that has gone, by a clock or as planned.
func (s *search) spend(planned float64) {
	if s.ans.Seconds += planned; s.Elapsed != nil {
		s.ans.Seconds = s.Elapsed()
	}
}

// fitted shortens a cell to the time that is left, in s that count after its wash-in. ErrTime: less than its shortest length is left. Time is taken
// off for what the last cell took beside its own length: starting a run, and reading the answers that were in flight at its end.
func (s *search) fitted(wash, shortest, longest float64) (float64, error) {
	left := s.Options.Seconds - s.ans.Seconds - max(s.extra, pause)
	if left < wash+shortest {
		s.ans.Left, s.ans.Needed = max(0, s.Options.Seconds-s.ans.Seconds), wash+shortest+max(s.extra, pause)
		return 0, ErrTime
	}
	return min(longest, left-wash), nil
}

// notMet tells whether one user alone breaks an objective: more requests than may are bad beyond doubt, or most of a few.
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

// binding is the objective with the smallest capacity.
func (s *search) binding() int {
	best := 0
	for k := range s.post {
		if s.post[k].quantile(.5) < s.post[best].quantile(.5) {
			best = k
		}
	}
	return best
}

// round is the logarithm of a load that can be offered.
func (s *search) round(x float64) float64 {
	if s.Concurrency {
		return math.Log(max(1, math.Round(math.Exp(x))))
	}
	return x
}

// wash is how long a cell goes on before it counts, in s.
func (s *search) wash() float64 { return max(3, 4*s.latency) }

// length is how long a full cell counts, in s; times 2 for one that holds an answer.
func (s *search) length(x, times float64) float64 {
	rate := math.Exp(x)
	if s.Concurrency {
		rate /= s.latency
	}
	longest := 0.0
	for i := range s.Objectives {
		longest = max(longest, s.Size/s.Objectives[i].Allowed/rate)
	}
	longest = max(longest, 20*s.latency, leastOfWash*s.wash())
	return min(60*times, times*longest)
}

// cell tries a load and takes in what it says.
func (s *search) cell(ctx context.Context, x, shortest, longest float64, settle bool) (Cell, error) {
	x = s.round(x)
	wash := s.wash()
	longest, err := s.fitted(wash, shortest, longest)
	if err != nil {
		return Cell{}, err
	}
	looks := []float64{wash + longest}
	if s.Looks > 1 && longest > 1.2*shortest {
		looks = looks[:0]
		for i := range s.Looks {
			looks = append(looks, wash+shortest*math.Pow(longest/shortest, float64(i)/float64(s.Looks-1)))
		}
	}
	views := make([]view, len(s.Objectives))
	c := Cell{Load: math.Exp(x), Wash: wash}
	var latest []Request
	grew := false
	kept, err := s.server.Cell(ctx, c.Load, looks, func(at float64, list []Request) bool {
		latest, c.Seconds, c.State = list, at-wash, Pass
		for k := range s.Objectives {
			views[k] = look(list, k, &s.Objectives[k], wash, at)
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

// broken tells whether more requests than may are bad. A queue that grew between two instants while none was is believed when it is
// still growing at the next look: near the capacity queues come and go.
func (s *search) broken(views []view) bool {
	for k := range views {
		if views[k].share > s.Objectives[k].Allowed {
			return true
		}
	}
	return false
}

// observed is what a view says to a posterior.
func (v *view) observed(x, seconds float64) observation {
	o := observation{x: x, share: v.share, n: float64(v.n), seconds: seconds}
	effective := v.effective
	over := v.growth > .02 && v.growthT > 4
	if over {
		o.share, effective = max(o.share, mostShare), max(effective, 20)
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

// order of states, the worst first.
var order = []State{Over, Fail, Open, Perhaps, Pass}

// worse is the worse of two states.
func worse(a, b State) State {
	for _, s := range order {
		if a == s || b == s {
			return s
		}
	}
	return a
}

// keepLatency takes the mean latency of what began in a cell that kept the objectives.
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

// bracket doubles until a load plainly fails. At the client's ceiling one full cell just below it says whether that is kept.
func (s *search) bracket(ctx context.Context, x float64) error {
	for s.ans.Seconds <= s.Options.Seconds && s.tried() < s.Options.Cells {
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
			return nil
		}
		if c.State != Fail && c.Bad <= s.allowed(c.Objective) {
			s.lo = math.Log(c.Load)
		}
		x += math.Ln2
	}
	return nil
}

// refine narrows the posterior of the binding objective, then holds the answer.
func (s *search) refine(ctx context.Context) error {
	second := false
	for tried := 0; ; {
		switch {
		case s.tried() >= s.Options.Cells:
			s.ans.Why = Many
			return nil
		case s.ans.Seconds >= s.Options.Seconds:
			s.ans.Why = Time
			return nil
		}
		p := s.post[s.binding()]
		m := p.quantile(.5)
		if tried >= firstCells && p.quantile(.95)-p.quantile(.05) < 2*s.Precision {
			if s.guards >= mostGuards || s.failedAbove(m, p.target) {
				s.ans.Why = Settled
				return s.hold(ctx)
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

// failedAbove tells whether a cell just above the answer has clearly failed.
func (s *search) failedAbove(m, allowed float64) bool {
	for _, c := range s.ans.Cells {
		if x := math.Log(c.Load); x > m && x <= m+guardAbove && (c.State == Over || c.Bad >= 3*allowed) {
			return true
		}
	}
	return false
}

// hold tries the answer for longer; if it fails, again at the new one.
func (s *search) hold(ctx context.Context) error {
	for range mostHolds {
		m := s.post[s.binding()].quantile(.5)
		longest := s.length(m, 2)
		c, err := s.cell(ctx, m, max(8, leastHold*longest), longest, true)
		if err != nil {
			return err
		}
		if c.State == Pass || c.State == Open {
			break
		}
	}
	return nil
}

// conclude makes the answer.
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
	m, l, h := p.quantile(.5), p.quantile(.05), p.quantile(.95)
	low, high := math.Exp(m-widen*(m-l)), math.Exp(m+widen*(h-m))
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
	if math.IsNaN(s.hi) { // nothing failed: there is no answer
		a.High = math.Inf(1)
		a.AtLeast = 0
		if !math.IsNaN(s.lo) {
			a.AtLeast = math.Exp(s.lo)
		}
		if a.Why == "" {
			a.Why = Time
		}
		return
	}
	if a.Capacity = math.Exp(m); s.Concurrency {
		a.Capacity = math.Round(a.Capacity)
	}
}
