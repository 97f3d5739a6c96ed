package promserver

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"aiperf/internal/measure/stats"
)

// Label is a label of every sample.
type Label struct{ Name, Value string }

// Gauge is a figure of the load, in addition to those of requests.
type Gauge struct {
	Name, Help string
	Value      float64
}

// Page formats figures in the Prometheus text format 0.0.4. A metric with a distribution is a summary aiperf_<tag>_<unit> and a gauge for each of its
// other statistics; one without is a gauge aiperf_<tag>_avg_<unit>.
func Page(version string, labels []Label, gauges []Gauge, figures []Figure) []byte {
	var b strings.Builder
	sample := func(name, more string, v float64) {
		b.WriteString(name)
		b.WriteByte('{')
		for i, l := range labels {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `%s="%s"`, l.Name, escape(l.Value))
		}
		if more != "" && len(labels) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(more + "} " + number(v) + "\n")
	}
	family := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help), name, kind)
	}
	family("aiperf_info", "gauge", "The benchmark and the program that runs it")
	sample("aiperf_info", `version="`+escape(version)+`"`, 1)
	for _, g := range gauges {
		family(g.Name, "gauge", g.Help)
		sample(g.Name, "", g.Value)
	}
	for i := range figures {
		f := &figures[i]
		unit, of := unitName(f.Display), fmt.Sprintf(" (in %s)", f.Display)
		base := join("aiperf", f.Tag, unit)
		if f.HasDistribution {
			family(base, "summary", f.Header+of)
			for k, q := range f.Quantiles {
				if !math.IsNaN(q) {
					sample(base, `quantile="`+number(stats.Levels[k]/100)+`"`, q)
				}
			}
			sample(base+"_sum", "", f.Sum)
			sample(base+"_count", "", float64(f.Count))
		}
		for _, g := range []struct {
			stat, word string
			v          float64
			alone      bool // also for metrics without a distribution
		}{
			{"avg", "average", f.Avg, true}, {"min", "minimum", f.Min, false}, {"max", "maximum", f.Max, false},
			{"std", "standard deviation", f.Std, false}, {"current", "current value", f.Current, false},
		} {
			if g.alone || f.HasDistribution {
				name := join("aiperf", f.Tag, g.stat, unit)
				family(name, "gauge", f.Header+" "+g.word+of)
				sample(name, "", g.v)
			}
		}
	}
	return []byte(b.String())
}

// number formats a value.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// escape escapes the value of a label.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

// unitName converts a unit to a part of a metric's name.
func unitName(unit string) string {
	name := clean(strings.NewReplacer("%", "percent", "/", "_per_").Replace(unit))
	return strings.ReplaceAll(name, "tokens_per_sec", "tps")
}

// join makes a name from its parts.
func join(parts ...string) string {
	name := clean(strings.Join(parts, "_"))
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	return strings.TrimRight(name, "_")
}

// clean reduces a text to lower-case letters, digits and underscores.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(text))
}
