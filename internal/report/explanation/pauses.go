package explanation

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
)

// Resolution of the search for pauses.
const (
	pauseCells = 4 << 20 // most cells of time
	pauseCell  = 1e5     // shortest cell, ns
)

// pauseTimes is how many times as long as the usual silence a pause is at least. The usual one is the time from step to step of the server.
const pauseTimes = 5

// silences returns the stretches of at least two cells in which no answer received anything although two or more were between their first and last
// message: a pause of the server, or of the link. Their ends are known to one cell. false = the times of messages are unknown.
func (c *collector) silences() (list []metric.Window, cell int64, ok bool) {
	return silences(c.q, c.first)
}

// Pauses returns the times of the wall clock in which no answer received anything although two or more were arriving, in their order: those of at least
// least ns that are also five times as long as the usual silence between messages. nil = there are none, or the records have no times of messages.
func Pauses(q *runfiles.Requests, least int64) (out []metric.Window) {
	list, _, ok := silences(q, firstTokens(q))
	if !ok || len(list) == 0 {
		return nil
	}
	lengths := make([]float64, len(list))
	for i, s := range list {
		lengths[i] = float64(s.To - s.From)
	}
	slices.Sort(lengths)
	least = max(least, int64(pauseTimes*percentile(lengths, 50)))
	for _, s := range list {
		if s.To-s.From >= least {
			out = append(out, s)
		}
	}
	return out
}

func silences(q *runfiles.Requests, first []int64) (list []metric.Window, cell int64, ok bool) {
	zero, last := int64(math.MaxInt64), int64(0)
	for i := range q.Len() {
		if first[i] > 0 && len(q.Gaps(i)) > 0 {
			zero, last, ok = min(zero, first[i]), max(last, q.End[i]), true
		}
	}
	if !ok || last <= zero {
		return nil, 0, false
	}
	cell = max(pauseCell, (last-zero)/pauseCells+1)
	n := int((last-zero)/cell) + 2
	heard, open := make([]bool, n), make([]int32, n+1)
	at := func(t int64) int { return int(min(max(0, (t-zero)/cell), int64(n-1))) }
	for i := range q.Len() {
		gaps := q.Gaps(i)
		if first[i] == 0 || len(gaps) == 0 {
			continue
		}
		heard[at(first[i])] = true
		sum := 0.0
		for _, g := range gaps {
			sum += g * 1e6
			heard[at(first[i]+int64(sum))] = true
		}
		open[at(first[i])]++
		open[at(first[i]+int64(sum))+1]--
	}
	running, from := int32(0), 0
	for k := range n {
		if heard[k] {
			if k-from >= 2 && running >= 2 { // nobody began or ended in between
				list = append(list, metric.Window{From: zero + int64(from)*cell, To: zero + int64(k)*cell})
			}
			from = k + 1
		}
		running += open[k]
	}
	return list, cell, true
}

// pauses adds the pause of all answers that each request met. Those count in which the request was sent, and those that began within the usual time to
// first token after it. The work on its own prompt may silence the others as well, so one of the latter must be longer than that work explains. After
// the first token, pauses within the usual length of an answer count. These lengths are the same for all requests: a slow one would otherwise see more
// pauses only because it lasts longer.
func (c *collector) pauses() {
	list, cell, ok := c.silences()
	if !ok {
		c.missing("the times of single tokens, to see pauses of the server (streaming)")
		return
	}
	usual := make([]float64, len(list))
	for i, s := range list {
		usual[i] = float64(s.To - s.From)
	}
	slices.Sort(usual)
	shortest := 2 * cell
	if len(usual) > 0 {
		shortest = max(shortest, int64(pauseTimes*percentile(usual, 50)))
	}
	t := newMaxima(list)
	within := func(from, to int64) int64 { // the longest that begins there
		a := sort.Search(len(list), func(i int) bool { return list[i].From >= from })
		b := sort.Search(len(list), func(i int) bool { return list[i].From >= to })
		return t.between(a, b)
	}
	around := func(at int64) int64 { // what is left of the one at an instant
		if a := sort.Search(len(list), func(i int) bool { return list[i].To > at }); a < len(list) && list[a].From < at {
			return list[a].To - at
		}
		return 0
	}
	f := fact{name: "pause", label: "pause of all answers when they were sent", unit: "ms", what: "were sent during or just before a pause of all answers", verb: "were"}
	decodes := c.decode || answerLength["output_sequence_length"] == c.e.definition("output_sequence_length")
	if decodes {
		f.label, f.what, f.verb = "longest pause of all answers soon after the first token", "met a pause of all answers soon after their first token", "did"
		if !c.decode {
			f.label, f.what = "longest pause of all answers when they were sent or soon after the first token", "met a pause of all answers"
		}
	}
	length := c.usualAnswer()
	before, prompt := c.usualPrompt()
	c.number(f, func(_, i int) float64 {
		longest := int64(0)
		if !c.decode {
			longest = around(c.q.Start[i])
			if later := within(c.q.Start[i], c.q.Start[i]+int64(before)); float64(later) > ownWork*prompt(i) {
				longest = max(longest, later)
			}
		}
		if decodes && c.first[i] > 0 {
			longest = max(longest, within(c.first[i], c.first[i]+length))
		}
		if longest < shortest {
			longest = 0
		}
		return float64(longest) / 1e6
	})
}

// ownWork is how many times as long as its prompt explains a pause must be, if it began after the request was sent.
const ownWork = 2

// usualPrompt returns the median time to first token, and what the prompt of a record explains of it: at least the median, and the median time per token
// times its tokens. Both are in ns.
func (c *collector) usualPrompt() (usual float64, of func(i int) float64) {
	fresh := c.fresh()
	var all, each []float64
	for _, i := range c.index {
		if c.first[i] > 0 {
			ns := float64(c.first[i] - c.q.Start[i])
			all = append(all, ns)
			if fresh != nil && fresh[i] > 0 {
				each = append(each, ns/fresh[i])
			}
		}
	}
	if all == nil {
		return 0, func(int) float64 { return 0 }
	}
	slices.Sort(all)
	slices.Sort(each)
	usual = percentile(all, 50)
	return usual, func(i int) float64 {
		if each == nil || math.IsNaN(fresh[i]) {
			return usual
		}
		return max(usual, fresh[i]*percentile(each, 50))
	}
}

// usualAnswer returns the median time from the first token to the end of an answer, in ns.
func (c *collector) usualAnswer() int64 {
	var all []float64
	for _, i := range c.index {
		if c.first[i] > 0 {
			all = append(all, float64(c.q.End[i]-c.first[i]))
		}
	}
	if all == nil {
		return 0
	}
	slices.Sort(all)
	return int64(percentile(all, 50))
}

// maxima finds the longest of neighbouring silences (a sparse table).
type maxima [][]int64

func newMaxima(list []metric.Window) maxima {
	level := make([]int64, len(list))
	for i, s := range list {
		level[i] = s.To - s.From
	}
	t := maxima{level}
	for width := 1; 2*width <= len(list); width *= 2 {
		before := t[len(t)-1]
		next := make([]int64, len(list)-2*width+1)
		for i := range next {
			next[i] = max(before[i], before[i+width])
		}
		t = append(t, next)
	}
	return t
}

// between returns the longest of the silences a to b-1; 0 if there is none.
func (t maxima) between(a, b int) int64 {
	if a >= b {
		return 0
	}
	k := bits.Len(uint(b-a)) - 1
	return max(t[k][a], t[k][b-(1<<k)])
}
