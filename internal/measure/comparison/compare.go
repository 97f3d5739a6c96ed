package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/stats"
)

// Options are the settings of a comparison.
type Options struct {
	Confidence float64 // confidence level, usually 0.95
	Noise      float64 // relative standard deviation between runs, assumed if a side has one run
	Margin     float64 // irrelevant relative difference of means, medians and rates; upper quantiles have twice as much
	Margins    map[string]float64
	Metrics    []string // the compared statistics as "tag:stat"; empty: the usual ones
	Different  bool     // also compare runs with different settings
	Invalid    bool     // show runs with a doubt, without a judgement
}

// Outcome is the result for a statistic or for a comparison.
type Outcome string

// The outcomes.
const (
	Same   Outcome = "same"
	Better Outcome = "better"
	Worse  Outcome = "worse"
	Cannot Outcome = "cannot tell"
)

// Line is the comparison of one statistic. Differences are fractions of A; for an error rate they are differences of shares. Infinite ends mean that
// the interval is unbounded.
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
	// BatchesA and BatchesB are the numbers of batches in the intervals of single runs; 0 for several runs. Effective are the equivalent numbers of
	// independent requests.
	BatchesA, BatchesB     int
	EffectiveA, EffectiveB float64
	Needed                 string // what would decide the question; empty if it is decided

	higherIsBetter    bool
	logWidth          float64 // width of the interval of the logarithm
	rareAsDisturbance bool    // as rare as a disturbance by the machine, so longer runs would not help
	wakeShare         float64 // largest share of a run's value that late wake-ups may have added, against which longer runs do not help either
	log               float64
}

// Result is a comparison.
type Result struct {
	Basis   string // "one run each", "runs" or "pairs"
	Options Options
	A, B    []Run
	Other   []string // settings that differ
	Notes   []string // why something is not judged, and other facts about the runs
	Lines   []Line
	Outcome Outcome
	// Refused is the reason why nothing is judged although there are figures; empty if there is a judgement.
	Refused string
	// MorePairs is the number of pairs to ask for so that enough are valid, if there were too few; otherwise 0.
	MorePairs int
	// Change of the level of each side over time, for pairs. Taking turns cancels it.
	DriftA, DriftB float64

	drifts             map[driftKey]driftResult
	withheld           string // why nothing is judged; "" if something is
	unequalDisturbance bool   // the machine was disturbed far more on one side than on the other
}

// CheckMetrics returns an error if Metrics names a statistic that is unknown.
func (o *Options) CheckMetrics() error {
	_, err := o.family()
	return err
}

// family returns the statistics to compare.
func (o *Options) family() (list []statistic, err error) {
	if len(o.Metrics) == 0 {
		return usualFamily(), nil
	}
	known := allStatistics()
	for _, name := range o.Metrics {
		full := longName(name)
		i := slices.IndexFunc(known, func(s statistic) bool {
			return full == s.tag+":"+s.stat || full == s.tag && (s.higherIsBetter || s.tag == "error_rate")
		})
		if i < 0 {
			return nil, fmt.Errorf("%q is not a statistic that can be compared; allowed are %s with mean, p50, p90, p95 or p99, and request_throughput, output_token_throughput, goodput, error_rate; write for example ttft:p99",
				name, strings.Join(timed, ", "))
		}
		list = append(list, known[i])
	}
	return list, nil
}

// margin returns the margin of a statistic.
func (o *Options) margin(s *statistic) float64 {
	for _, key := range []string{s.tag + ":" + s.stat, s.tag} {
		if v, ok := o.Margins[key]; ok {
			return v
		}
	}
	switch {
	case s.tag == "error_rate":
		return 0.005
	case s.wide:
		return 2 * o.Margin
	}
	return o.Margin
}

// Compare judges B against A. Each side has one run, or each has two or more.
func Compare(a, b []Run, o Options) (*Result, error) {
	r, err := compareWithoutJudging(a, b, o)
	if err == nil {
		judge([]*Result{r})
	}
	return r, err
}

// compareWithoutJudging returns a comparison without its judgement.
func compareWithoutJudging(a, b []Run, o Options) (*Result, error) {
	one := len(a) == 1 && len(b) == 1
	if len(a) == 0 || len(b) == 0 || !one && (len(a) < 2 || len(b) < 2) {
		return nil, fmt.Errorf("%d runs against %d: give one on each side, or several on both", len(a), len(b))
	}
	family, err := o.family()
	if err != nil {
		return nil, err
	}
	r := &Result{Basis: "runs", Options: o, A: a, B: b}
	if one {
		r.Basis = "one run each"
	}
	for _, run := range append(slices.Clone(a), b...) {
		if run.requests()+run.Failed == 0 {
			after := ""
			if run.Skip > 0 {
				after = fmt.Sprintf(" after its first %g s", run.Skip)
			}
			return nil, fmt.Errorf("%s: no profiling request has a latency, and none failed%s", run.Path, after)
		}
		if run.Doubt != "" && !o.Invalid {
			return nil, fmt.Errorf("%s cannot be compared: %s. %s, or add %s to see the figures without a judgement", run.Path, run.Doubt, run.remedy(), config.FlagOf("allow_invalid"))
		}
	}
	if err := r.sameRun(); err != nil {
		return nil, err
	}
	if err := r.caches(); err != nil {
		return nil, err
	}
	r.machines()
	r.cancellations()
	r.Other = otherSettings(a[0].Settings, b[0].Settings)
	r.sameLengths()
	r.disturbances()
	r.order()
	r.spread(one)
	for i := range family {
		r.line(&family[i], one)
	}
	return r, nil
}

// otherSettings returns the names of the settings that differ.
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

// sameLengths adds input or output lengths that differ by more than half the margin to the differing settings: then the work is not the same.
func (r *Result) sameLengths() {
	mean := func(side []Run, tag string) float64 {
		sum, n := 0.0, 0
		for i := range side {
			for _, v := range side[i].Values[tag] {
				sum += v
				n++
			}
		}
		return sum / float64(n)
	}
	for _, l := range [][2]string{{"input_sequence_length", "mean input length"}, {"output_sequence_length", "mean output length"}} {
		a, b := mean(r.A, l[0]), mean(r.B, l[0])
		if math.Abs(b/a-1) > r.Options.Margin/2 {
			r.Other = append(r.Other, fmt.Sprintf("%s: %.4g and %.4g tokens", l[1], a, b))
		}
	}
}

// all returns the values of a side; false if one run has no value.
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

// minRequests returns the minimum number of requests of a judged run. one means that each side has one run.
func minRequests(one bool) int {
	if one {
		return 100
	}
	return 20
}

// line compares one statistic. If a side has no value, or the load determines the value, a note says so and the statistic is not judged.
func (r *Result) line(s *statistic, one bool) {
	a, okA := s.all(r.A)
	b, okB := s.all(r.B)
	name := strings.ReplaceAll(s.tag, "_", " ")
	switch {
	case okA != okB:
		lacking := "A"
		if okA {
			lacking = "B"
		}
		if said := fmt.Sprintf("%s is not judged: %s lacks it", name, lacking); !slices.Contains(r.Notes, said) {
			r.Notes = append(r.Notes, said)
		}
		return
	case !okA:
		return
	case s.tag == "goodput" && r.otherObjectives() != "":
		r.Notes = append(r.Notes, r.otherObjectives())
		return
	case s.higherIsBetter && s.tag != "goodput" && r.A[0].Fixed && r.B[0].Fixed:
		r.Notes = append(r.Notes, name+" is not judged: it is set by the load")
		return
	}
	l := Line{Tag: s.tag, Stat: s.stat, Unit: s.unit, A: stats.Mean(a), B: stats.Mean(b), Margin: r.Options.margin(s), P: 1, higherIsBetter: s.higherIsBetter}
	plain := s.tag == "error_rate"
	var d Difference
	switch {
	case !one:
		d, l.P = s.differenceOfRuns(r.A, r.B, a, b)
	default:
		var x, y Estimate
		if plain {
			x, y = errorsOf(&r.A[0]), errorsOf(&r.B[0])
			d = Shares(&x, &y)
		} else {
			x, y = s.estimate(&r.A[0]), s.estimate(&r.B[0])
			d = OneEach(&x, &y, r.Options.Noise)
		}
		l.BatchesA, l.BatchesB, l.EffectiveA, l.EffectiveB = x.Batches, y.Batches, x.Effective, y.Effective
		l.P = d.PValue()
	}
	l.fill(&d, r.Options.Confidence, plain)
	l.rareAsDisturbance = one && s.p > 0 && max(r.A[0].tail(), r.B[0].tail()) > 1-s.p
	for i, v := range a {
		l.wakeShare = max(l.wakeShare, s.added(&r.A[i])/v)
	}
	for i, v := range b {
		l.wakeShare = max(l.wakeShare, s.added(&r.B[i])/v)
	}
	r.withhold(&l, s, one)
	r.Lines = append(r.Lines, l)
}

// fill sets the difference and its intervals in a line.
func (l *Line) fill(d *Difference, confidence float64, plain bool) {
	show := func(v float64) float64 {
		if plain {
			return v
		}
		return math.Exp(v) - 1
	}
	low, high := d.Limits(confidence)
	low90, high90 := d.Limits(0.90)
	l.Difference, l.Low, l.High, l.Low90, l.High90 = show(d.Log), show(low), show(high), show(low90), show(high90)
	l.logWidth, l.log = (high-low)/2, d.Log
}

// shortestSingle is the length that a single run on a side needs, s.
const shortestSingle = 10

// tooShort says what a run has too little of: requests, time, or both.
func tooShort(requests int, seconds float64, one bool) string {
	few := requests < minRequests(one)
	short := one && seconds < shortestSingle
	switch {
	case few && short:
		return fmt.Sprintf("%s in %.3g s; at least %d requests and %d s are needed", terminal.Plural(requests, "request"), seconds, minRequests(one), shortestSingle)
	case few:
		return fmt.Sprintf("%s; at least %d are needed", terminal.Plural(requests, "request"), minRequests(one))
	}
	return fmt.Sprintf("%.3g s long; a single run needs at least %d s", seconds, shortestSingle)
}

// withhold withholds the verdict of a line if the runs do not allow one (comparison, section 5).
func (r *Result) withhold(l *Line, s *statistic, one bool) {
	for _, side := range [][]Run{r.A, r.B} {
		for i := range side {
			run := &side[i]
			n := run.requests()
			if s.tag == "error_rate" {
				n += run.Failed
			}
			if n < minRequests(one) || one && run.Seconds < shortestSingle {
				l.Outcome, l.Reason = Cannot, tooShort(n, run.Seconds, one)
			}
			if change, yes := r.drift(run, s.tag); yes {
				said := fmt.Sprintf("%s: %s was still changing, by %+.0f %% over the run", run.Path, strings.ReplaceAll(s.tag, "_", " "), 100*change)
				if one {
					l.Outcome, l.Reason = Cannot, said
				} else if !slices.Contains(r.Notes, said) {
					r.Notes = append(r.Notes, said)
				}
			}
			if doubt := s.doubt(run); doubt != "" {
				l.Outcome, l.Reason = Cannot, doubt
			}
			if run.Doubt != "" {
				l.Outcome, l.Reason = Cannot, "a run is not valid"
			}
		}
	}
	if r.withheld != "" {
		l.Outcome, l.Reason = Cannot, r.withheld
	}
	if r.unequalDisturbance && s.tag != "error_rate" {
		l.Outcome, l.Reason = Cannot, "the machine was disturbed far more on one side"
	}
	if len(r.Other) > 0 && !r.Options.Different && s.tag != "error_rate" {
		l.Outcome, l.Reason = Cannot, "not the same work"
	}
}

// drift returns the cached result of drifting.
func (r *Result) drift(run *Run, tag string) (float64, bool) {
	key := driftKey{run, tag}
	d, known := r.drifts[key]
	if !known {
		d.change, d.yes = drifting(run, tag, r.Options.Margin)
		if r.drifts == nil {
			r.drifts = map[driftKey]driftResult{}
		}
		r.drifts[key] = d
	}
	return d.change, d.yes
}

type (
	driftKey struct {
		run *Run
		tag string
	}
	driftResult struct {
		change float64
		yes    bool
	}
)

// manyErrors is the share of errors above which "better" latencies are not trusted.
const manyErrors = 0.05

// judge sets the outcome of every line and every comparison. All their lines form one family of tests.
func judge(list []*Result) {
	var p []float64
	var open []*Line
	alpha := 0.0
	for _, r := range list {
		alpha = 1 - r.Options.Confidence
		for i := range r.Lines {
			if l := &r.Lines[i]; l.Outcome == "" {
				p, open = append(p, l.P), append(open, l)
			}
		}
	}
	for i, adjusted := range Holm(p) {
		open[i].decide(adjusted, alpha)
	}
	for _, r := range list {
		for i := range r.Lines {
			r.suggestDecider(&r.Lines[i])
		}
		r.withholdBySurvivors()
		r.Outcome = outcome(r.Lines)
	}
}

// outcome summarises lines.
func outcome(lines []Line) Outcome {
	count := map[Outcome]int{}
	for i := range lines {
		count[lines[i].Outcome]++
	}
	switch {
	case count[Worse] > 0:
		return Worse
	case count[Better] > 0:
		return Better
	case count[Same] == len(lines) && len(lines) > 0:
		return Same
	}
	return Cannot
}

// Undecided reports whether some statistic could not be judged.
func (r *Result) Undecided() bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Outcome == Cannot })
}

// decide sets the verdict of a line from its p-value, adjusted for the family.
func (l *Line) decide(adjusted, alpha float64) {
	l.PHolm = adjusted
	low, high := -l.Margin/(1+l.Margin), l.Margin // log(1+margin) on both sides
	if l.Tag == "error_rate" {
		low = -l.Margin
	}
	switch {
	case l.Low90 >= low && l.High90 <= high:
		l.Outcome = Same
		if l.Low90 > 0 || l.High90 < 0 {
			l.Reason = "a real difference, smaller than the margin"
		}
	case adjusted <= alpha+1e-12 && (l.Difference > 0) == l.higherIsBetter:
		l.Outcome = Better
	case adjusted <= alpha+1e-12:
		l.Outcome = Worse
	default:
		l.Outcome = Cannot
	}
}

// suggestDecider sets what would decide an undecided line: a rule of thumb, based on the width of its interval.
func (r *Result) suggestDecider(l *Line) {
	if l.Outcome != Cannot || l.Reason != "" {
		return
	}
	margin := math.Log1p(l.Margin)
	if l.Tag == "error_rate" {
		margin = l.Margin
	}
	target := max(math.Abs(l.log), margin-math.Abs(l.log)) / 1.3
	factor := (l.logWidth / target) * (l.logWidth / target)
	switch {
	case l.rareAsDisturbance || l.wakeShare >= target:
		l.Needed = "runs on a quieter machine"
	case math.IsInf(factor, 0) || math.IsNaN(factor):
		l.Needed = fmt.Sprintf("more requests: %.0f and %.0f independent ones are too few for a bound", l.EffectiveA, l.EffectiveB)
	case r.Basis == "pairs":
		n := float64(len(r.A))
		flips := math.Ceil(1 + math.Log2(float64(len(r.Lines))/(1-r.Options.Confidence))) // fewer pairs cannot reach the confidence, whatever their differences
		l.Needed = fmt.Sprintf("about %.0f pairs", max(n+1, flips, math.Ceil(n*factor)))
	case r.Basis == "runs":
		n := float64(min(len(r.A), len(r.B)))
		l.Needed = fmt.Sprintf("about %.0f runs each of this length", max(n+1, math.Ceil(n*factor)))
	case l.Tag != "error_rate" && normalZ(r.Options.Confidence)*r.Options.Noise*math.Sqrt2 >= target:
		l.Needed = "5 runs each"
	default:
		l.Needed = fmt.Sprintf("runs %.1f times as long", max(1.5, factor))
	}
}

// withholdBySurvivors withholds "better" latencies if they exclude failed requests.
func (r *Result) withholdBySurvivors() {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Tag == "error_rate" })
	if i < 0 {
		return
	}
	e := &r.Lines[i]
	if e.Outcome != Worse && e.Outcome != Better && max(e.A, e.B) <= manyErrors {
		return
	}
	for k := range r.Lines {
		if l := &r.Lines[k]; l.Outcome == Better && slices.Contains(timed, l.Tag) {
			l.Outcome, l.Reason = Cannot, "failed requests are missing from it"
		}
	}
}
