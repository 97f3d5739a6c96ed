package custom

import (
	"encoding/json"
	"math"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// orchestratorKeys are the keys that only an orchestrator may have: a session that sends no requests itself.
var orchestratorKeys = []string{"spawns", "rounds", "think_time_ms", "think_time_sigma", "think_time_min_ms", "think_time_max_ms"}

// maxRounds is the maximum number of rounds of an orchestrator.
const maxRounds = 100_000

// orchestrates reports whether a session sends nothing itself and only starts others.
func (g *sessionRow) orchestrates(r *rows.Row) bool {
	switch string(r.Raw("orchestrator")) {
	case "true":
		for _, key := range []string{"pre_session_spawns", "turns"} {
			if filled(r, key) {
				r.Fault(key, "is not allowed in an orchestrator, which sends no requests itself")
			}
		}
		return true
	case "", "false":
	default:
		r.Fault("orchestrator", "must be true or false, got %s", r.Raw("orchestrator"))
	}
	for _, key := range orchestratorKeys {
		if filled(r, key) {
			r.Fault(key, "is allowed only with orchestrator: true; other sessions write spawns in a turn")
		}
	}
	return false
}

// rounds builds the turns of an orchestrator. Without rounds it starts its sessions and ends. With rounds, each round starts its sessions. The next
// round waits for their end, then for the think time. A final turn waits for the last round.
func (g *sessionRow) rounds(r *rows.Row) []conversation.Turn {
	think := r.Duration("think_time_ms")
	spread := g.thinkSpread(r)
	turn := func(wait *float64) conversation.Turn {
		return conversation.Turn{Silent: true, Delay: delay(spread.draw(wait), g.DelayRatio, g.DelayCap), Origin: r.Where}
	}
	if !r.Has("rounds") {
		if think != nil {
			r.Fault("think_time_ms", "needs rounds")
		}
		g.round(r, r, 0, 0)
		return []conversation.Turn{turn(nil)}
	}
	var turns []conversation.Turn
	if rows.Kind(r.Raw("rounds")) == "array" {
		items := r.List("rounds")
		if len(items) == 0 {
			r.Fault("rounds", "at least one round is needed")
		}
		if filled(r, "spawns") {
			r.Fault("spawns", "is not allowed together with a list of rounds; write spawns in each round")
		}
		seen := map[string]bool{}
		for i, raw := range items {
			turns = append(turns, turn(g.listed(r, i, raw, len(items), think, seen)))
		}
		return append(turns, turn(nil))
	}
	n := r.Int("rounds", 1)
	if n == nil {
		return []conversation.Turn{turn(nil)}
	}
	if *n > maxRounds {
		r.Fault("rounds", "must be at most %d, got %d", maxRounds, *n)
		return []conversation.Turn{turn(nil)}
	}
	for i := range *n {
		turns = append(turns, turn(think))
		g.round(r, r, i, *n)
	}
	return append(turns, turn(nil))
}

// thinkSpread is a log-normal distribution of think times around their median, within bounds.
type thinkSpread struct {
	sigma     float64 // standard deviation of the logarithm
	low, high float64 // ms
	from      *rng.Stream
}

// thinkSpread reads the distribution of think times; nil = they are constant.
func (g *sessionRow) thinkSpread(r *rows.Row) *thinkSpread {
	low, high := r.Duration("think_time_min_ms"), r.Duration("think_time_max_ms")
	sigma := r.Duration("think_time_sigma")
	switch {
	case sigma == nil && (low != nil || high != nil):
		r.Fault("think_time_min_ms, think_time_max_ms", "need think_time_sigma: without it, the think time is fixed")
		return nil
	case sigma == nil:
		return nil
	case !r.Has("think_time_ms"):
		r.Fault("think_time_sigma", "needs think_time_ms, the median")
	case low != nil && high != nil && *low > *high:
		r.Fault("think_time_min_ms", "must be at most think_time_max_ms %g, got %g", *high, *low)
	}
	s := &thinkSpread{sigma: *sigma, high: math.MaxFloat64, from: g.Root.Stream("dataset.dag.think_time:" + ownID(r))}
	if low != nil {
		s.low = *low
	}
	if high != nil {
		s.high = *high
	}
	return s
}

// draw draws a think time around its median, in ms. nil and 0 are returned unchanged.
func (s *thinkSpread) draw(median *float64) *float64 {
	if s == nil || median == nil || *median == 0 {
		return median
	}
	ms := min(max(*median*math.Exp(s.from.Gauss(0, s.sigma)), s.low), s.high)
	return &ms
}

// listed reads a round with its own list of sessions and returns its think time.
func (g *sessionRow) listed(r *rows.Row, i int, raw json.RawMessage, rounds int, think *float64, seen map[string]bool) *float64 {
	item := r.Item("rounds", i, raw)
	if item == nil {
		return nil
	}
	for _, key := range unknownKeys(item, []string{"spawns", "think_time_ms"}) {
		item.Fault(key, "unknown key; allowed are spawns, think_time_ms")
	}
	for _, child := range item.Strings("spawns") {
		if seen[child] {
			item.Fault("spawns", "%q is also in another round; a session can be in one round only, so that its answers stay distinguishable", child)
		}
		seen[child] = true
	}
	g.round(r, item, i, rounds)
	if item.Has("think_time_ms") {
		return item.Duration("think_time_ms")
	}
	return think
}

// round adds the links of a round. With rounds > 0, the next turn waits for the started sessions.
func (g *sessionRow) round(r, item *rows.Row, turn, rounds int) {
	names := item.Strings("spawns")
	if len(names) == 0 {
		item.Fault("spawns", "at least one session is needed")
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			item.Fault("spawns", "%q is used twice", name)
		}
		seen[name] = true
		k := link{where: r.Where, at: r.Path("spawns"), target: name, turn: turn}
		if rounds > 0 {
			k.join = turn + 1
		}
		g.links = append(g.links, k)
	}
}
