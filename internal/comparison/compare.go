package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/stats"
)

// Run is the requests of one run, in the order of their starts.
type Run struct {
	Path     string
	Values   map[string][]float64 // by metric tag, in its display unit
	Failed   int
	Seconds  float64   // from the first start to the last end
	Tokens   float64   // of all answers
	Settings []Setting // of its configuration: what makes it the same work
	Doubt    string    // why it must not be judged, empty: nothing
}

// Setting is a setting that two runs must share to be compared.
type Setting struct{ Name, Value string }

// Options of a comparison.
type Options struct {
	Confidence float64 // 0.95
	Noise      float64 // relative standard deviation from run to run, for one run a side
	Margin     float64 // that does not matter, of means, medians and rates; the upper quantiles have twice as much
	Different  bool    // other work is compared all the same
	Invalid    bool    // runs with a doubt are shown
}

// Outcome of a metric or of a comparison.
type Outcome string

// The outcomes.
const (
	Same   Outcome = "same"
	Better Outcome = "better"
	Worse  Outcome = "worse"
	Cannot Outcome = "cannot tell"
)

// Line is what a comparison says of one statistic. Differences are fractions of A, of an error rate in shares; infinite ends are unbounded.
type Line struct {
	Tag, Stat, Unit string
	A, B            float64
	Difference      float64
	Low, High       float64 // at the confidence of the comparison
	Low90, High90   float64
	P, PHolm        float64
	Margin          float64
	Outcome         Outcome
	Reason          string
}

// Result is a comparison.
type Result struct {
	Basis   string // "one run each" or "runs"
	Options Options
	A, B    []Run
	Other   []string // settings that differ
	Lines   []Line
	Outcome Outcome
}

// statistic is one that is compared.
type statistic struct {
	tag, stat string
	unit      string
	p         float64 // quantile; 0: the mean
	more      bool    // more is better
	wide      bool    // twice the margin
}

// family are the statistics that are compared, error rate last.
var family = func() (list []statistic) {
	for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
		list = append(list, statistic{tag, "mean", "ms", 0, false, false}, statistic{tag, "p50", "ms", .5, false, false},
			statistic{tag, "p90", "ms", .9, false, true}, statistic{tag, "p99", "ms", .99, false, true})
	}
	return append(list, statistic{"request_throughput", "avg", "requests/sec", 0, true, false},
		statistic{"output_token_throughput", "avg", "tokens/sec", 0, true, false}, statistic{"error_rate", "share", "", 0, false, false})
}()

// Compare judges B against A. Both sides have one run, or two or more.
func Compare(a, b []Run, o Options) (*Result, error) {
	one := len(a) == 1 && len(b) == 1
	if len(a) == 0 || len(b) == 0 || !one && (len(a) < 2 || len(b) < 2) {
		return nil, fmt.Errorf("%d runs against %d: give one on each side, or several on both", len(a), len(b))
	}
	r := &Result{Basis: "runs", Options: o, A: a, B: b}
	if one {
		r.Basis = "one run each"
	}
	for _, run := range append(slices.Clone(a), b...) {
		if run.Doubt != "" && !o.Invalid {
			return nil, fmt.Errorf("%s: %s; such a run is not judged", run.Path, run.Doubt)
		}
	}
	r.Other = otherSettings(a[0].Settings, b[0].Settings)
	for i := range family {
		if l, ok := r.line(&family[i], one); ok {
			r.Lines = append(r.Lines, l)
		}
	}
	r.judge()
	return r, nil
}

// otherSettings names the settings that differ.
func otherSettings(a, b []Setting) (list []string) {
	for _, f := range a {
		for _, g := range b {
			if f.Name == g.Name && f.Value != g.Value {
				list = append(list, fmt.Sprintf("%s: %s and %s", f.Name, f.Value, g.Value))
			}
		}
	}
	return list
}

// value is a statistic of a run; false: the run lacks it.
func (s *statistic) value(r *Run) (float64, bool) {
	ok := float64(len(r.Values["request_latency"]))
	switch s.tag {
	case "error_rate":
		return float64(r.Failed) / (ok + float64(r.Failed)), ok+float64(r.Failed) > 0
	case "request_throughput":
		return ok / r.Seconds, ok > 0 && r.Seconds > 0
	case "output_token_throughput":
		return r.Tokens / r.Seconds, r.Tokens > 0 && r.Seconds > 0
	}
	y := r.Values[s.tag]
	if len(y) == 0 {
		return 0, false
	}
	if s.p == 0 {
		return stats.Mean(y), true
	}
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	return stats.Percentile(sorted, 100*s.p), true
}

// all are the values of a side, false when one run lacks it.
func (s *statistic) all(side []Run) (list []float64, ok bool) {
	for i := range side {
		v, ok := s.value(&side[i])
		if !ok || s.tag != "error_rate" && !(v > 0) {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// least is the number of requests that a judged run has, alone on its side or not.
func least(one bool) int {
	if one {
		return 100
	}
	return 20
}

// line compares one statistic.
func (r *Result) line(s *statistic, one bool) (Line, bool) {
	a, okA := s.all(r.A)
	b, okB := s.all(r.B)
	if !okA || !okB {
		return Line{}, false
	}
	l := Line{Tag: s.tag, Stat: s.stat, Unit: s.unit, A: stats.Mean(a), B: stats.Mean(b), Margin: r.Options.Margin, P: 1}
	if s.wide {
		l.Margin *= 2
	}
	plain := s.tag == "error_rate"
	if plain {
		l.Margin = 0.005
	}
	var d Difference
	switch rate := s.more; {
	case !one:
		d, l.P = Several(a, b, plain)
	case plain:
		d = shares(&r.A[0], &r.B[0])
		l.P = d.PValue()
	case rate: // one run says nothing of how its rate varies
		l.Difference, l.Low, l.High, l.Low90, l.High90 = l.B/l.A-1, math.Inf(-1), math.Inf(1), math.Inf(-1), math.Inf(1)
		l.Outcome, l.Reason = Cannot, "a rate needs several runs on each side"
		return l, true
	default:
		x, y := r.estimate(&r.A[0], s), r.estimate(&r.B[0], s)
		d = OneEach(&x, &y, r.Options.Noise)
		l.P = d.PValue()
	}
	show := func(v float64) float64 {
		if plain {
			return v
		}
		return math.Exp(v) - 1
	}
	low, high := d.Limits(r.Options.Confidence)
	low90, high90 := d.Limits(0.90)
	l.Difference, l.Low, l.High, l.Low90, l.High90 = show(d.Log), show(low), show(high), show(low90), show(high90)
	for _, side := range [][]Run{r.A, r.B} {
		for i := range side {
			if n := len(side[i].Values["request_latency"]); n < least(one) || one && side[i].Seconds < 10 {
				l.Outcome, l.Reason = Cannot, fmt.Sprintf("%d requests in %.0f s are too few: %d or more, and 10 s of one run", n, side[i].Seconds, least(one))
			}
		}
	}
	switch {
	case len(r.Other) > 0 && !r.Options.Different && !plain:
		l.Outcome, l.Reason = Cannot, "not the same work"
	case r.A[0].Doubt != "" || r.B[0].Doubt != "":
		l.Outcome, l.Reason = Cannot, "a run is not valid"
	}
	return l, true
}

func (r *Result) estimate(run *Run, s *statistic) Estimate {
	if s.p == 0 {
		return Mean(run.Values[s.tag])
	}
	return Quantile(run.Values[s.tag], s.p)
}

// shares is the difference of two error shares, from their Clopper-Pearson limits.
func shares(a, b *Run) Difference {
	share := func(r *Run) (p float64, n int) {
		n = len(r.Values["request_latency"]) + r.Failed
		return float64(r.Failed) / float64(n), n
	}
	pa, na := share(a)
	pb, nb := share(b)
	return Difference{Log: pb - pa, limits: func(level float64) (float64, float64) {
		la, ua, _ := shareLimits(pa, na, na, 0, level)
		lb, ub, _ := shareLimits(pb, nb, nb, 0, level)
		d := pb - pa
		return d - math.Hypot(pb-lb, ua-pa), d + math.Hypot(ub-pb, pa-la)
	}}
}

// judge gives every line its outcome, and the comparison one.
func (r *Result) judge() {
	var p []float64
	var open []*Line
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Outcome == "" {
			p, open = append(p, l.P), append(open, l)
		}
	}
	for i, adjusted := range Holm(p) {
		l := open[i]
		l.PHolm = adjusted
		low, high := -l.Margin/(1+l.Margin), l.Margin // log(1+margin) on both sides
		if l.Tag == "error_rate" {
			low = -l.Margin
		}
		more := l.Tag == "request_throughput" || l.Tag == "output_token_throughput"
		switch {
		case l.Low90 >= low && l.High90 <= high:
			l.Outcome = Same
			if l.Low90 > 0 || l.High90 < 0 {
				l.Reason = "a real difference, smaller than the margin"
			}
		case adjusted < 1-r.Options.Confidence+1e-12 && (l.Difference > 0) == more:
			l.Outcome = Better
		case adjusted < 1-r.Options.Confidence+1e-12:
			l.Outcome = Worse
		default:
			l.Outcome = Cannot
			if r.Basis == "one run each" {
				l.Reason = "five runs on each side would tell more"
			}
		}
	}
	count := map[Outcome]int{}
	for i := range r.Lines {
		count[r.Lines[i].Outcome]++
	}
	switch {
	case count[Worse] > 0:
		r.Outcome = Worse
	case count[Better] > 0:
		r.Outcome = Better
	case count[Same] == len(r.Lines) && len(r.Lines) > 0:
		r.Outcome = Same
	default:
		r.Outcome = Cannot
	}
}

// Sentence says one line in words.
func (l *Line) Sentence(confidence float64) string {
	name := strings.ReplaceAll(l.Tag, "_", " ") + " " + l.Stat
	share := func(v float64) string {
		if math.IsInf(v, 0) {
			return "unbounded"
		}
		return fmt.Sprintf("%+.1f %%", 100*v)
	}
	text := fmt.Sprintf("%s: %s", name, l.Outcome)
	if l.Outcome == Same {
		text += fmt.Sprintf(" within %g %%", 100*l.Margin)
	}
	text += fmt.Sprintf(", %.4g -> %.4g %s, %s (%g %% interval %s to %s)", l.A, l.B, l.Unit, share(l.Difference), 100*confidence, share(l.Low), share(l.High))
	if l.Reason != "" {
		text += "; " + l.Reason
	}
	return text + "."
}
