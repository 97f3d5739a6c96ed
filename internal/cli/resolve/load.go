package resolve

import (
	"os"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/public"
)

// loadFlags holds the meaning of the load flags before phases are made from them.
type loadFlags struct {
	fixed    bool // a schedule, explicit or promoted
	promoted bool
	users    bool
	rated    bool // a rate or a rate series

	concurrency []int64 // values, several if swept; nil if not given
	prefill     []int64
	requests    []int64
	sessions    []int64
	duration    []float64
	rate        []float64
}

// unbounded reports whether no flag says how many requests a run makes, how long it takes, or when it sends them.
func (l *loadFlags) unbounded() bool {
	return l.requests == nil && l.sessions == nil && l.duration == nil && !l.fixed && !l.users
}

// PaceFlags lists the flags that select a pace, which excludes the timestamps of a file.
var PaceFlags = flagsOf(func(f *setting.Row) bool { return f.Pace })

// loadShape decides which load mode is used.
func (r *resolver) loadShape() {
	l := &r.load
	l.concurrency = r.set.Ints("--concurrency")
	if old := r.set.Ints("--session-concurrency"); old != nil {
		r.old("--session-concurrency", "--concurrency")
		if l.concurrency != nil && (len(l.concurrency) > 1 || l.concurrency[0] != old[0]) {
			r.fail("%s and %s differ; give one of them", r.spelled("--session-concurrency"), r.spelled("--concurrency"))
		}
		l.concurrency = old
	}
	l.prefill = r.set.Ints("--prefill-concurrency")
	l.requests, l.sessions = r.set.Ints("--request-count"), r.set.Ints("--num-sessions")
	l.rate = r.set.Floats("--request-rate")
	l.duration = r.set.Floats("--benchmark-duration")
	if ms := r.set.Ints("--measurement-interval"); ms != nil && l.duration == nil {
		l.duration = []float64{3 * float64(ms[0]) / 1000}
	}
	l.rated = r.has("--request-rate") || r.has("--request-rate-series")
	l.users = r.has("--user-centric-rate")
	l.fixed = r.on("--fixed-schedule")
	if r.fromFile {
		return
	}
	if !l.fixed && r.promotes() {
		l.fixed, l.promoted = true, true
		r.note("the rows of %s have times: they are replayed as a fixed schedule; --no-fixed-schedule turns that off", r.run.Dataset().Path)
	}
}

// promotes reports whether the times of the file make the run a schedule although the user did not ask for one.
func (r *resolver) promotes() bool {
	f := r.file
	if f == nil || !f.Format.Times || !f.Timed || r.run.Scenario != "" || r.on("--no-fixed-schedule") || r.set.Get("--fixed-schedule") != nil {
		return false
	}
	if f.Format.Unpromoted {
		if len(r.given(PaceFlags...)) == 0 {
			r.note("%s has times: --fixed-schedule would replay them", r.run.Dataset().Path)
		}
		return false
	}
	written := f.Format.Trace && !f.Recognised && !f.Format.Yields // a recording selected by name: its times take precedence
	switch pace := r.given(PaceFlags...); {
	case !written && len(pace) > 0:
		r.warn("%s has times, but %s sets the pace: the times are ignored; --fixed-schedule replays them", r.run.Dataset().Path, strings.Join(pace, " and "))
		return false
	case !f.Format.Trace && !f.AllTimed:
		r.warn("%s: only some rows have times: they are ignored", r.run.Dataset().Path)
		return false
	}
	return true
}

// phases makes the warm-up and the profiling phase.
func (r *resolver) phases() {
	defer r.rateSeries()
	if r.fromFile {
		r.phasesOver()
		return
	}
	profiling := r.profiling()
	r.run.Phases = []config.Phase{profiling}
	if warmup := r.warmup(); warmup != nil {
		r.run.Phases = []config.Phase{*warmup, profiling}
	}
}

// profiling makes the measured phase from flags alone.
func (r *resolver) profiling() config.Phase {
	r.run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
	p := &r.run.Phases[0]
	r.shape(p)
	if p.Type == config.PhaseConcurrency && p.Concurrency == nil && p.PrefillConcurrency == nil {
		one := 1
		p.Concurrency = &one
	}
	r.stops(p)
	return *p
}

// shape applies the flags of the measured phase: their values, and what they imply together.
func (r *resolver) shape(p *config.Phase) {
	l := &r.load
	r.bind(measuredPhase)
	setFirst(&p.Concurrency, l.concurrency)
	r.mode(p)
	if d := l.duration; d != nil {
		p.Duration = ptr(config.Seconds(d[0]))
		if p.GracePeriod == nil {
			p.GracePeriod = ptr(config.Seconds(30))
		}
	}
	if rate := r.set.Floats("--request-cancellation-rate"); rate != nil {
		if p.Cancellation == nil {
			p.Cancellation = &config.Cancellation{}
		}
		p.Cancellation.Rate = rate[0]
	}
	delay := r.set.Floats("--request-cancellation-delay")
	switch {
	case delay == nil:
	case p.Cancellation != nil:
		p.Cancellation.Delay = config.Seconds(delay[0])
	case r.set.Get("--request-cancellation-rate") == nil:
		r.fail("%s needs --request-cancellation-rate", r.spelled("--request-cancellation-delay"))
	}
}

// mode selects the type of the measured phase and its settings.
func (r *resolver) mode(p *config.Phase) {
	l := &r.load
	switch {
	case l.fixed:
		p.Type = config.PhaseFixedSchedule
	case l.users:
		p.Type, p.Rate, p.RateSeries, p.RatePoints = config.PhaseUserCentric, &r.set.Floats("--user-centric-rate")[0], r.set.Text("--request-rate-series", ""), nil
	case r.fromFile && p.Type == config.PhaseUserCentric && l.rate != nil && !r.has("--request-rate-series"):
		p.Rate = &l.rate[0] // rate of its users
	case l.rated: // if both are given, config refuses them
		p.Rate, p.RatePoints, p.RateSeries = nil, nil, r.set.Text("--request-rate-series", "")
		if l.rate != nil {
			p.Rate = &l.rate[0]
		}
		if !p.Type.HasRate() {
			p.Type = config.PhasePoisson
		}
	}
	r.gaps(p)
	asked := r.given("--fixed-schedule", "--fixed-schedule-auto-offset", "--fixed-schedule-start-offset", "--fixed-schedule-end-offset")
	if p.Type == config.PhaseFixedSchedule && (!r.fromFile || len(asked) > 0) {
		auto := r.set.True("--fixed-schedule-auto-offset", p.StartOffset == nil)
		p.AutoOffset = &auto
	}
}

// gaps sets how the gaps of a rate are distributed. An explicit shape is kept even if the type has none, so that config can refuse it.
func (r *resolver) gaps(p *config.Phase) {
	shape := r.set.Floats("--arrival-smoothness")
	if p.Type.HasRate() && (r.has("--arrival-pattern") || shape != nil) {
		p.Type, p.Smoothness = r.arrival(r.set.Text("--arrival-pattern", "")), nil
	}
	switch {
	case shape != nil:
		p.Smoothness = &shape[0]
	case p.Type == config.PhaseGamma && p.Smoothness == nil:
		p.Smoothness = ptr(1.0)
	case r.load.users:
		p.Smoothness = nil
	}
}

// stops sets the default count for a phase without a stop condition.
func (r *resolver) stops(p *config.Phase) {
	set := public.Find(r.set.Text("--public-dataset", r.run.Dataset().Dataset))
	if set != nil && set.Sessions && p.Type == config.PhaseFixedSchedule {
		p.Sessions = nil // the count says how many are read; the schedule sends all of their requests
	}
	if r.run.Scenario != "" {
		return // the series has its own length
	}
	if p.Requests != nil || p.Sessions != nil || p.Duration != nil {
		if p.Type == config.PhaseFixedSchedule && p.Requests == nil && p.Sessions == nil && r.file != nil && r.file.Turns > 0 {
			p.Requests = &r.file.Turns
		}
		return
	}
	if r.run.Accuracy != nil {
		return // the problem was already reported
	}
	if r.rootSessions(p); p.Sessions != nil {
		return
	}
	switch p.Type {
	case config.PhaseUserCentric: // no default: ten requests cannot show a steady state
	case config.PhaseFixedSchedule:
		if r.file != nil && r.file.Turns > 0 {
			p.Requests = &r.file.Turns
		}
	default:
		n := config.DefaultRequests(p)
		p.Requests = &n
	}
}

// rootSessions makes a phase send once every session of a graph that no other session starts.
func (r *resolver) rootSessions(p *config.Phase) {
	if r.file == nil || r.file.Format.Name != "dag_jsonl" || p.Kind != config.KindProfiling {
		return
	}
	n := custom.RootSessions(r.run.Dataset().Path)
	if most := r.run.Dataset().Entries; most > 0 {
		n = min(n, most)
	}
	if n > 0 {
		p.Sessions = &n
	}
}

// arrival returns the distribution of the gaps of a rate: as given, gamma if only its shape is given, else poisson.
func (r *resolver) arrival(pattern string) config.PhaseType {
	switch pattern {
	case "constant":
		return config.PhaseConstant
	case "gamma":
		return config.PhaseGamma
	case "":
		if r.has("--arrival-smoothness") {
			return config.PhaseGamma
		}
	}
	if external := config.PhaseType(pattern); external.External() {
		return external
	}
	return config.PhasePoisson
}

func (r *resolver) smoothness(t config.PhaseType) *float64 {
	if t != config.PhaseGamma {
		return nil
	}
	s := 1.0
	if f := r.set.Floats("--arrival-smoothness"); f != nil {
		s = f[0]
	}
	return &s
}

// first returns the first value of a flag as an int; nil if it is not given.
func first(values []int64) *int {
	if len(values) == 0 {
		return nil
	}
	n := int(values[0])
	return &n
}

// setFirst stores the first value of a flag in a field, if the flag is given.
func setFirst(field **int, values []int64) {
	if n := first(values); n != nil {
		*field = n
	}
}

// rateSeries refuses a rate series that cannot be read.
func (r *resolver) rateSeries() {
	if _, err := r.series(); err != nil {
		r.fail("%s: %v", r.spell(measuredPhase+"rate_series"), err)
	}
}

// series reads the rate series of the measured phase, if it has one. A pipe can be read only once, so the run reads it.
func (r *resolver) series() ([]config.RatePoint, error) {
	p := r.run.Profiling()
	if p == nil {
		return nil, nil
	}
	if info, err := os.Stat(p.RateSeries); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil
	}
	return p.Series()
}
