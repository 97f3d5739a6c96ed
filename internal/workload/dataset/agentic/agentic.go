// Package agentic generates traces of coding agents: sessions of many turns with growing prompts. Prompts share prefixes in layers: with all sessions,
// within a group of sessions, and within one session. Distributions, session model and files: contract, datasets, section 11.2.
package agentic

import (
	"fmt"
	"math"

	"aiperf/internal/base/rng"
)

// Sizes of id ranges: number of groups, blocks per group, blocks per session.
const (
	maxGroups        = 1000
	groupBlocks      = 200
	maxSessionBlocks = 4000
)

// minOutput is the minimum output length in tokens, unless the maximum is lower.
const minOutput = 30

// End is the reason why a session ended.
type End int

// Reasons for the end of a session.
const (
	Retired   End = iota // the next prompt would be too long
	Reset                // reset by chance
	Split                // continued by another session
	Completed            // it had its drawn number of turns
)

// Turn is one request of a session. Lengths are in tokens.
type Turn struct {
	Input  int     // the whole prompt
	New    int     // part of Input that the turn adds; in the first turn the whole prompt
	Output int     // requested output length
	Delay  float64 // ms after the previous answer
}

// Session is one conversation.
type Session struct {
	ID        string
	Group     int
	Number    int   // number of its id range
	Prefix    []int // ids of the first prompt
	Turns     []Turn
	End       End
	Continues bool // starts with the context of a split session
}

// generator draws sessions.
type generator struct {
	*Config
	draws     *rng.Stream
	groups    []float64 // cumulative shares of the groups
	l1, l15   int       // sizes of the shared layers in blocks
	newTokens Lognormal
	leastOut  float64
	sessions  int
}

// Generate draws n sessions. Splits add more. The same seed gives the same sessions.
func Generate(c *Config, n int, root *rng.Root, tick func(done int)) ([]Session, error) {
	g := &generator{Config: c, draws: root.Stream("dataset.agentic_code"), newTokens: c.NewTokens.lognormal(), leastOut: minOutput}
	g.l1, g.l15 = blocksOf(c.Cache.Layer1, c.BlockSize), blocksOf(c.Cache.Layer15, c.BlockSize)
	if most := c.Output.Max; most != nil {
		g.leastOut = min(minOutput, math.Trunc(*most))
	}
	sum := 0.0
	for k := range c.Cache.Groups.Number {
		sum += math.Pow(float64(k+1), -c.Cache.Groups.Alpha)
		g.groups = append(g.groups, sum)
	}
	if need := blocksOf(c.MaxPrompt, c.BlockSize) - g.l1 - g.l15; need > maxSessionBlocks {
		return nil, fmt.Errorf("max_prompt_tokens %d: a session would need %d blocks; at most %d are possible", c.MaxPrompt, need, maxSessionBlocks)
	}
	return g.all(n, tick)
}

func blocksOf(tokens, block int) int { return (tokens + block - 1) / block }

// all draws the primary sessions. It inserts the sessions from splits at random positions later in the list.
func (g *generator) all(n int, tick func(int)) ([]Session, error) {
	type deferred struct {
		session Session
		after   int
	}
	var list []Session
	var later []deferred
	for i := range n {
		tick(i)
		if g.Turns != nil {
			s, err := g.counted()
			if err != nil {
				return nil, err
			}
			list = append(list, s)
			continue
		}
		progress := float64(i) / float64(max(1, n-1))
		chance := g.RestartChance * max(0, 1-progress/0.75)
		split := g.draws.Float64() < chance
		s, rest := g.session(split)
		if list = append(list, s); rest != nil {
			later = append(later, deferred{*rest, len(list) - 1})
		}
	}
	gap := max(1, n/4)
	for _, d := range later {
		at := min(d.after+gap, len(list))
		at += g.draws.Below(len(list) - at + 1)
		list = append(list[:at], append([]Session{d.session}, list[at:]...)...)
	}
	return list, nil
}

// begin draws the start of a session.
func (g *generator) begin() Session {
	s := Session{ID: fmt.Sprintf("sess-%012x", g.draws.Bits(48)), Group: g.group(), Number: g.sessions}
	g.sessions++
	fixed := (g.l1 + g.l15) * g.BlockSize
	input := min(fixed+max(1, int(g.Cache.Layer2.draw(g.draws))), g.MaxPrompt-1)
	s.Prefix = g.ids(&s, blocksOf(input, g.BlockSize))
	s.Turns = []Turn{{Input: input, New: input, Output: g.output()}}
	return s
}

// group draws a group by Zipf's law.
func (g *generator) group() int {
	u := g.draws.Float64() * g.groups[len(g.groups)-1]
	for k, sum := range g.groups {
		if u < sum {
			return k
		}
	}
	return len(g.groups) - 1
}

// ids returns the first n ids of a session's prompt: the common ones, those of its group, then its own.
func (g *generator) ids(s *Session, n int) []int {
	list := make([]int, n)
	for i := range list {
		switch {
		case i < g.l1:
			list[i] = i
		case i < g.l1+g.l15:
			list[i] = g.l1 + groupBlocks*s.Group + i - g.l1
		default:
			list[i] = g.base(s) + i - g.l1 - g.l15
		}
	}
	return list
}

// base returns the first own id of a session.
func (g *generator) base(s *Session) int {
	return FirstOwn(g.Config) + maxSessionBlocks*s.Number
}

func (g *generator) output() int { return int(max(g.leastOut, g.Output.draw(g.draws))) }

// delay draws the pause after a prompt of the given length, in ms. It gets shorter as the context fills up.
func (g *generator) delay(input int) float64 {
	d := &g.Delay
	pauses := &d.Human
	if g.draws.Float64() < d.AgenticFraction {
		pauses = &d.Agentic
	}
	ms := pauses.draw(g.draws)
	if d.Max != nil {
		ms = min(ms, *d.Max)
	}
	return ms * max(0.2, 1-0.8*float64(input)/float64(g.MaxPrompt))
}

// next draws the next turn, without its output.
func (g *generator) next(s *Session) Turn {
	last := s.Turns[len(s.Turns)-1]
	t := Turn{Delay: g.delay(last.Input), New: max(1, int(g.newTokens.draw(g.draws)))}
	t.Input = last.Input + last.Output + t.New
	return t
}

// resets draws whether the session ends before a prompt of the given length.
func (g *generator) resets(input int) bool {
	r := g.Reset
	return r != nil && g.draws.Float64() < r.Chance*(1+(r.Scaling-1)*float64(input)/float64(g.MaxPrompt))
}

// session draws a session, and the session that continues it after a split.
func (g *generator) session(split bool) (s Session, rest *Session) {
	at := -1
	if split {
		at = g.draws.Between(g.RestartTurns[0], g.RestartTurns[1]-1)
	}
	s = g.begin()
	g.run(&s, at)
	if s.End != Split {
		return s, nil
	}
	last := s.Turns[len(s.Turns)-1]
	input := min(last.Input+last.Output, g.MaxPrompt-1)
	rest = &Session{ID: fmt.Sprintf("sess-%012x", g.draws.Bits(48)), Group: s.Group, Number: s.Number, Continues: true}
	rest.Prefix = g.ids(rest, blocksOf(input, g.BlockSize))
	rest.Turns = []Turn{{Input: input, New: input, Output: g.output()}}
	g.run(rest, -1)
	return s, rest
}

// run draws turns until the session ends, or is split before turn at (-1 = never).
func (g *generator) run(s *Session, at int) {
	for {
		if len(s.Turns) == at {
			s.End = Split
			return
		}
		t := g.next(s)
		switch {
		case t.Input >= g.MaxPrompt:
			s.End = Retired
			return
		case g.resets(t.Input):
			s.End = Reset
			return
		}
		t.Output = g.output()
		s.Turns = append(s.Turns, t)
	}
}

// counted draws the number of turns first, then a session with that many.
func (g *generator) counted() (Session, error) {
	want := g.Turns.draw(g.draws)
	attempts := g.Turns.Attempts
	if g.Turns.Truncate {
		attempts = 1
	}
	for range attempts {
		s := g.begin()
		for len(s.Turns) < want {
			t := g.next(&s)
			if t.Input >= g.MaxPrompt {
				break
			}
			t.Output = g.output()
			s.Turns = append(s.Turns, t)
		}
		switch {
		case len(s.Turns) == want:
			s.End = Completed
			return s, nil
		case g.Turns.Truncate:
			return s, nil
		}
	}
	return Session{}, fmt.Errorf("no session of %d turns fits into max_prompt_tokens %d in %d attempts", want, g.MaxPrompt, attempts)
}
