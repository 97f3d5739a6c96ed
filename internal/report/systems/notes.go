package systems

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
)

// gpuWords says how many GPUs the points of a system have, and how that is known.
func gpuWords(list []Point, spelled string) string {
	var words []string
	for i := range list {
		p := &list[i]
		word := fmt.Sprintf("%d (%s)", p.GPUs, spelled)
		switch p.GPUs {
		case 0:
			word = "unknown"
		case p.seen:
			word = fmt.Sprintf("%d (telemetry)", p.GPUs)
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// workSpread is the relative difference in the mean lengths of prompts or answers above which systems did not do the same work.
const workSpread = 0.05

// remarks adds what a reader must know before the figures.
func (c *Comparison) remarks() {
	for k := range c.Systems {
		c.gpuRemarks(k)
	}
	c.versions()
	c.work("input_sequence_length:avg", "Prompts")
	c.work("output_sequence_length:avg", "Answers")
	doubted := 0
	for i := range c.Points {
		if c.Points[i].Doubt != "" {
			doubted++
		}
	}
	if doubted > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %s do not count for frontiers and answers: their measurement is not valid or not complete. A box below counts them anyway.", doubted, terminal.Plural(len(c.Points), "point")))
	}
	if n := c.without(func(p *Point) bool { return p.Verdict == "none" }); n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %s have no verdict (the tool that measured gives none): whether the client limited them is unknown.", n, terminal.Plural(len(c.Points), "point")))
	}
}

// without counts points.
func (c *Comparison) without(is func(*Point) bool) (n int) {
	for i := range c.Points {
		if is(&c.Points[i]) {
			n++
		}
	}
	return n
}

// gpuRemarks says where the number of GPUs of a system is unknown or doubtful.
func (c *Comparison) gpuRemarks(k int) {
	s := &c.Systems[k]
	unknown := false
	said := map[string]bool{}
	for i := range c.Points {
		p := &c.Points[i]
		if p.System != k {
			continue
		}
		unknown = unknown || p.GPUs == 0
		note := ""
		switch {
		case s.flag > 0 && p.seen > 0 && s.flag != p.seen:
			note = fmt.Sprintf("%s: telemetry saw %s, %s says %d; %d is used, and there is no figure for energy.", s.Name, terminal.Plural(p.seen, "GPU"), c.Spelled.GPUs, s.flag, s.flag)
		case s.flag == 0 && p.idle > 0:
			note = fmt.Sprintf("%s: %d of the %s that telemetry saw were idle in a run. If the system does not use them, give its number of GPUs with %s: all of them are counted.", s.Name, p.idle, terminal.Plural(p.seen, "GPU"), c.Spelled.GPUs)
		}
		if note != "" && !said[note] {
			said[note] = true
			c.Notes = append(c.Notes, note)
		}
	}
	if unknown {
		c.Notes = append(c.Notes, fmt.Sprintf("%s: the number of GPUs is unknown (no GPU telemetry), so there is no figure per GPU and no cost. Give it with %s.", s.Name, c.Spelled.GPUs))
	}
}

// versions says which versions of the program measured, if several did.
func (c *Comparison) versions() {
	var names []string
	number := map[string]int{}
	for i := range c.Points {
		v := c.Points[i].Version
		if number[v] == 0 {
			names = append(names, v)
		}
		number[v]++
	}
	if len(names) < 2 {
		return
	}
	slices.Sort(names)
	var list []string
	for _, v := range names {
		word := v
		if v == "" {
			word = "unknown"
		}
		list = append(list, fmt.Sprintf("%s (%s)", word, terminal.Plural(number[v], "point")))
	}
	c.Notes = append(c.Notes, "Different versions of aiperf measured: "+strings.Join(list, ", ")+". Definitions of figures may differ between versions.")
}

// work says where points differ in how long prompts or answers are.
func (c *Comparison) work(key, noun string) {
	low, high := math.Inf(1), 0.0
	for i := range c.Points {
		if f, ok := c.Points[i].Figures[key]; ok {
			low, high = min(low, f.Value), max(high, f.Value)
		}
	}
	if low > 0 && high > low*(1+workSpread) {
		c.Notes = append(c.Notes, fmt.Sprintf("%s differ: on average %s to %s tokens. Points with different work are not comparable.", noun, terminal.Figure(low), terminal.Figure(high)))
	}
}
