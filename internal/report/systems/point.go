package systems

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/runfiles"
)

// Point is one measured setting of a system; its figures are means over its runs.
type Point struct {
	System      int
	Name        string  // "concurrency 32"
	Concurrency float64 // 0 = not set
	Rate        float64 // requested rate, requests/s; 0 = not set
	Runs        int
	GPUs        int     // 0 = unknown
	Failed      float64 // share of the requests that failed, %
	Verdict     string  // of all runs
	Doubt       string  // why the figures cannot be trusted; "" = they can
	Version     string  // of the program that measured
	Figures     map[string]Figure
	Missing     map[string]string // why a figure is missing, by its key
	Settings    map[string]string

	measured   []measured
	idle, seen int // GPUs that telemetry saw, and those of them that did nothing
}

// Figure is a mean over the runs of a point.
type Figure struct {
	Value     float64
	Half      float64 `json:",omitzero"` // half width of the 95 % interval over several runs
	Low, High float64 // range of an inexact statistic; both are Value if it is exact
}

// Unbounded is the High of a figure whose upper limit is unknown: JSON has no infinity.
const Unbounded = math.MaxFloat64

// measured is one run of a point.
type measured struct {
	run      *runfiles.Run
	sum      *runfiles.Summary
	settings map[string]string
}

// Energy is the key of the energy for each output token, in mJ, over all GPUs.
const Energy = "energy_per_output_token:avg"

// latencies lists the metrics that an objective limits.
var latencies = []string{"time_to_first_token", "inter_token_latency", "request_latency"}

// read lists the figures that are read from summaries.
var read = func() (list [][2]string) {
	for _, tag := range latencies {
		for _, stat := range []string{"avg", "p50", "p90", "p95", "p99"} {
			list = append(list, [2]string{tag, stat})
		}
	}
	for _, stat := range []string{"p50", "avg", "p10"} {
		list = append(list, [2]string{"output_token_throughput_per_user", stat})
	}
	for _, tag := range []string{"output_token_throughput", "total_token_throughput", "request_throughput", "goodput", "request_count", "input_sequence_length", "output_sequence_length"} {
		list = append(list, [2]string{tag, "avg"})
	}
	return list
}()

// needs is the smallest number of requests for a percentile.
var needs = map[string]float64{"p10": 10, "p90": 10, "p95": 20, "p99": 100}

// same reports whether a run has the settings of a point and as many GPUs. Only the first repetition of a series has a warm-up.
func (p *Point) same(m *measured) bool {
	first := &p.measured[0]
	alike := maps.Equal(p.Settings, m.settings)
	if m.sum.Series != "" && m.sum.Series == first.sum.Series && m.sum.Variation == first.sum.Variation {
		alike = maps.Equal(repeated(first.sum.FlatMeasured()), repeated(m.sum.FlatMeasured()))
	}
	return alike && seenGPUs(first) == seenGPUs(m)
}

// repeated removes settings that differ between repetitions.
func repeated(settings map[string]string) map[string]string {
	maps.DeleteFunc(settings, func(key, _ string) bool { return ofOneRun(key) })
	return settings
}

// seenGPUs returns the number of GPUs that telemetry saw.
func seenGPUs(m *measured) int {
	if m.sum.GPUs > 0 {
		return m.sum.GPUs
	}
	return m.run.GPUCount()
}

// ofOneRun matches settings that differ between repetitions of the same measurement.
func ofOneRun(key string) bool {
	return strings.HasPrefix(key, "artifacts.") || strings.Contains(key, "random_seed") || strings.HasPrefix(key, "runtime.") || strings.HasPrefix(key, "logging.")
}

// workSettings returns the settings of a run without those of a single repetition.
func workSettings(s *runfiles.Summary) map[string]string {
	return repeated(s.Flat())
}

// Work returns the settings that decide what a run measures: the server and how it is asked, the data, the tokenizer and the load, without length and seed.
// Runs that differ in them are not repetitions of one measurement.
func Work(s *runfiles.Summary) map[string]string {
	work := map[string]string{"model": s.Model()}
	for key, value := range s.Flat() {
		group, _, _ := strings.Cut(key, ".")
		if (group == "datasets" && key != "datasets.entries" || group == "endpoint" || group == "tokenizer") && !ofOneRun(key) {
			work[key] = value
		}
	}
	for _, key := range []string{"type", "concurrency", "rate", "prefill_concurrency", "users"} {
		work["phases."+key] = s.Phase(key)
	}
	return work
}

// Distinct returns names with the first two settings in which equal names differ.
func Distinct(names []string, settings []map[string]string) []string {
	list := make([]Point, len(names))
	for i := range names {
		list[i] = Point{Name: names[i], Settings: settings[i]}
	}
	distinguish(list)
	distinct := make([]string, len(names))
	for i := range list {
		distinct[i] = list[i].Name
	}
	return distinct
}

// differing returns the keys in which points differ, sorted.
func differing(points []Point) []string {
	var list []string
	all := map[string]bool{}
	for i := range points {
		for key := range points[i].Settings {
			all[key] = true
		}
	}
	for key := range all {
		for i := range points {
			if points[i].Settings[key] != points[0].Settings[key] {
				list = append(list, key)
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// finish computes everything of a point from its runs. spelled is how the user gives the number of GPUs.
func (p *Point) finish(s *System, spelled string) {
	first := &p.measured[0]
	p.Name, p.Runs, p.Version = Name(first.sum, first.run.Name), len(p.measured), first.sum.Version
	p.Concurrency, p.Rate = number(first.sum.Phase("concurrency")), number(first.sum.Phase("rate"))
	p.seen, p.idle = seenGPUs(first), first.sum.IdleGPUs
	p.GPUs = cmp.Or(s.flag, p.seen)
	p.Figures, p.Missing = map[string]Figure{}, map[string]string{}
	for _, one := range read {
		p.figure(one[0], one[1])
	}
	p.energy(s.flag, spelled)
	p.judge()
}

// figure adds the mean of a statistic over the runs, if every run has it.
func (p *Point) figure(tag, stat string) {
	key := tag + ":" + stat
	var v, low, high []float64
	for i := range p.measured {
		s := p.measured[i].sum
		one, ok := s.Stat(tag, stat)
		if !ok {
			p.Missing[key] = "not measured"
			return
		}
		if m, known := metric.Lookup(tag); known && s.Figures[tag].Unit != m.Display {
			p.Missing[key] = fmt.Sprintf("in %s instead of %s", s.Figures[tag].Unit, m.Display)
			return
		}
		if n, counted := s.Stat(tag, "count"); counted && n < needs[stat] {
			p.Missing[key] = fmt.Sprintf("needs %.0f requests", needs[stat])
			return
		}
		r, inexact := s.Approximate(tag, stat)
		if !inexact {
			r = metric.Range{Low: one, High: one}
		}
		if !(r.Low >= 0) {
			r.Low = 0 // unknown
		}
		if !(r.High <= Unbounded) {
			r.High = Unbounded
		}
		v, low, high = append(v, one), append(low, r.Low), append(high, r.High)
	}
	f := Figure{Value: stats.Mean(v), Low: stats.Mean(low), High: min(stats.Mean(high), Unbounded)}
	if slices.Max(high) == Unbounded {
		f.High = Unbounded
	}
	if len(v) > 1 {
		f.Half = stats.Confidence(v, 0.95).High - f.Value
	}
	p.Figures[key] = f
}

// energy adds the energy for each output token: that of all GPUs with telemetry, over the output tokens of the run. flag is the number of GPUs that
// the user gave; if telemetry saw another number, the energy is not that of the system.
func (p *Point) energy(flag int, spelled string) {
	if p.seen > 0 && flag > 0 && flag != p.seen {
		p.Missing[Energy] = fmt.Sprintf("telemetry covers %d GPUs, %s says %d", p.seen, spelled, flag)
		return
	}
	var v []float64
	for i := range p.measured {
		s := p.measured[i].sum
		joules := 0.0
		for _, platform := range metric.Platforms {
			one, _ := s.Stat(platform+"_total_gpu_energy", "avg")
			joules += one
		}
		tokens, ok := s.Stat("total_osl", "avg")
		if !ok {
			tokens, _ = s.Stat("total_output_tokens", "avg")
		}
		if joules <= 0 || tokens <= 0 {
			p.Missing[Energy] = "not measured"
			return
		}
		v = append(v, joules*1e3/tokens)
	}
	f := Figure{Value: stats.Mean(v)}
	f.Low, f.High = f.Value, f.Value
	if len(v) > 1 {
		f.Half = stats.Confidence(v, 0.95).High - f.Value
	}
	p.Figures[Energy] = f
}

// trusted lists the verdicts whose figures describe the server.
var trusted = []string{string(metric.VerdictValid), string(metric.VerdictServerLimited), ""}

// judge sums up failures and verdicts of the runs.
func (p *Point) judge() {
	var words, doubts []string
	failed, all := 0.0, 0.0
	for i := range p.measured {
		s := p.measured[i].sum
		n, _ := s.Stat("error_request_count", "avg")
		ok, _ := s.Stat("request_count", "avg")
		failed, all = failed+n, all+n+ok
		word := s.Verdict().Word
		doubt := ""
		switch {
		case s.Cancelled || !s.Complete:
			doubt = "stopped early"
		case !slices.Contains(trusted, word):
			doubt = word
		}
		if doubt != "" && !slices.Contains(doubts, doubt) {
			doubts = append(doubts, doubt)
		}
		if word = cmp.Or(word, "none"); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if all > 0 {
		p.Failed = 100 * failed / all
	}
	p.Verdict, p.Doubt = strings.Join(words, ", "), strings.Join(doubts, ", ")
}

// load orders the points of a system.
func (p *Point) load() float64 { return cmp.Or(p.Concurrency, p.Rate) }

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// shortNumber rounds a number with many digits, as a search makes them, to six.
func shortNumber(text string) string {
	if v, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 7 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return text
}

// Name returns what a run varies, in words: "concurrency 32". run is used if the settings do not say.
func Name(s *runfiles.Summary, run string) string {
	switch {
	case s.Variation != "":
		return strings.ReplaceAll(strings.ReplaceAll(s.Variation, "phases.profiling.", ""), "=", " ")
	case s.Phase("concurrency") != "":
		return "concurrency " + s.Phase("concurrency")
	case s.Phase("rate") != "":
		return "rate " + shortNumber(s.Phase("rate"))
	}
	return run
}
