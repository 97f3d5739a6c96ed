package watch

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/component"
	"aiperf/internal/run/rules"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/adaptive"
	"aiperf/internal/workload/load"
)

// MovableLoad is a load whose phases can be changed and ended while they run. The load generator implements it.
type MovableLoad interface {
	Move(index int, to float64)
	End(index int)
	Snapshots() []load.Snapshot
}

// AdaptiveLoad is the component that adjusts the load of adaptive phases to the results of their requests. It also observes the requests.
type AdaptiveLoad struct {
	component.Passive
	Load    MovableLoad // set before the load begins
	layout  artifact.Layout
	secrets *redact.Secrets
	log     func(text string, about ...any)
	phases  map[int]*adaptivePhase // by phase index
	order   []adaptive.Origin

	mu  sync.Mutex
	err error // first error of writing a file
}

// adaptivePhase is the state of one adaptive phase. mu guards the fields below it.
type adaptivePhase struct {
	of       adaptive.Origin
	settings adaptive.Settings
	every    time.Duration
	events   *artifact.Lines
	stop     chan struct{}
	loop     sync.WaitGroup

	mu      sync.Mutex
	control *adaptive.Controller // nil: the phase has not begun, or is over
	window  adaptive.Window
}

// NewAdaptiveLoad makes the component for the adaptive phases of a run; nil if the run has none.
func NewAdaptiveLoad(cfg *config.Benchmark, id string, layout artifact.Layout, secrets *redact.Secrets, log func(string, ...any)) *AdaptiveLoad {
	s := &AdaptiveLoad{layout: layout, secrets: secrets, log: log, phases: map[int]*adaptivePhase{}}
	measured := 0
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		if p.AdaptiveScale {
			one := &adaptivePhase{stop: make(chan struct{})}
			one.settings, one.every = AdaptiveSettings(p)
			one.of = adaptive.Origin{BenchmarkID: id, Phase: p.Name, Kind: string(p.Kind), Index: i, ProfilingIndex: measured}
			if load.Quantity(one.settings.Variable) == load.UserCount {
				one.of.Users = func() int { return s.users(i) }
			}
			s.phases[i] = one
		}
		if p.Kind == config.KindProfiling {
			measured++
		}
	}
	if len(s.phases) == 0 {
		return nil
	}
	return s
}

// AdaptiveSettings returns the settings of the search of an adaptive phase, and the length of the windows that it judges.
func AdaptiveSettings(p *config.Phase) (settings adaptive.Settings, window time.Duration) {
	a := p.Adaptive()
	return adaptive.Settings{
		Variable: a.Variable, Whole: a.Whole(), Min: a.Min, Max: a.Max, Conditions: rules.Conditions(p), Policy: a.Policy, BaseStep: a.BaseStep,
		MaxMultiplier: a.MaxMultiplier, StepPercent: a.StepPercent, Least: a.Least, Sustain: a.Sustain.Duration(),
	}, a.Window.Duration()
}

// Observers returns the component as a list of observers; the list of a nil component is empty.
func (s *AdaptiveLoad) Observers() []pipeline.Observer {
	if s == nil {
		return nil
	}
	return []pipeline.Observer{s}
}

// users returns the number of users of a phase that have begun and not yet finished.
func (s *AdaptiveLoad) users(index int) int {
	for _, one := range s.Load.Snapshots() {
		if one.Info.Index == index {
			return int(one.Sessions - one.Finished - one.Cut)
		}
	}
	return 0
}

// sending reports whether a phase still sends requests.
func (s *AdaptiveLoad) sending(index int) bool {
	for _, one := range s.Load.Snapshots() {
		if one.Info.Index == index {
			return one.SentAll == 0
		}
	}
	return false
}

// Observe implements pipeline.Observer.
func (s *AdaptiveLoad) Observe(row *metric.Row) {
	if one := s.phases[row.Meta.PhaseIndex]; one != nil {
		one.add(row)
	}
}

// add adds a finished request to the current window, unless the request was sent before the current load was set.
func (p *adaptivePhase) add(row *metric.Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control == nil {
		return
	}
	if from := p.control.SustainedFrom(); !from.IsZero() && max(row.Issued, row.Start) < from.UnixNano() {
		return
	}
	w := &p.window
	milliseconds := func(tag string) float64 {
		if v, ok := row.Value(tag); ok {
			return v / 1e6
		}
		return math.NaN()
	}
	one := adaptive.Request{
		Latency: milliseconds("request_latency"), FirstToken: milliseconds("time_to_first_token"), InterToken: milliseconds("inter_token_latency"), Tokens: math.NaN(),
	}
	if n, ok := row.Value("output_sequence_length"); ok {
		one.Tokens = n
	}
	switch {
	case row.Class == metric.Cut || row.Err != nil && row.Err.Type == transport.ErrCancelled:
		w.Cancelled++
	case row.Err != nil || math.IsNaN(one.Latency):
		w.Errors++
	default:
		w.Requests = append(w.Requests, one)
	}
}

// PhaseStart implements component.
func (s *AdaptiveLoad) PhaseStart(p *load.PhaseInfo) {
	one := s.phases[p.Index]
	if one == nil {
		return
	}
	s.order = append(s.order, one.of)
	data, err := adaptive.Manifest(s.order, artifact.AdaptiveEventsName, artifact.AdaptiveSummaryName)
	if err == nil {
		err = artifact.WriteFile(s.layout.AdaptiveManifest(), s.secrets.JSON(append(data, '\n')))
	}
	s.failed(err)
	one.events = artifact.NewLines(s.layout.AdaptiveEvents(p.Name))
	now := time.Now()
	one.mu.Lock()
	one.control = adaptive.New(one.settings, func(e *adaptive.Event) { s.writeEvent(one, e) })
	one.window.From = now
	one.control.Begin(now)
	one.mu.Unlock()
	one.loop.Go(func() { s.assessWindows(one) })
}

// writeEvent writes an event to the files of the phase.
func (s *AdaptiveLoad) writeEvent(p *adaptivePhase, e *adaptive.Event) {
	s.log("adaptive load", "phase", p.of.Phase, "event", e.Name, p.settings.Variable, e.Now(), "reason", e.Reason)
	line, err := e.JSON(&p.of)
	if err != nil {
		s.failed(err)
		return
	}
	p.events.Write(s.secrets.JSON(append(line, '\n')))
}

// assessWindows judges the windows of a phase, one after the other. No window is shorter than the configured length, and the time to sustain a load consists
// of whole windows.
func (s *AdaptiveLoad) assessWindows(p *adaptivePhase) {
	timer := time.NewTimer(p.every)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-timer.C:
			if !s.sending(p.of.Index) || s.assess(p) {
				return
			}
			timer.Reset(p.every)
		}
	}
}

// assess judges the window that ends now and changes the load. done is true when the search is over.
func (s *AdaptiveLoad) assess(p *adaptivePhase) (done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.window
	w.To = time.Now()
	p.window = adaptive.Window{From: w.To}
	before := p.control.Value()
	p.control.Assess(&w)
	switch now := p.control.Value(); {
	case p.control.Done():
		s.Load.End(p.of.Index)
	case now != before:
		s.Load.Move(p.of.Index, now)
	}
	return p.control.Done()
}

// PhaseEnd implements component.
func (s *AdaptiveLoad) PhaseEnd(f *load.PhaseStats) {
	one := s.phases[f.Info.Index]
	if one == nil {
		return
	}
	reason := adaptive.PhaseStopped
	switch f.StoppedBy {
	case load.StopInterrupted, load.StopFailures, load.StopUnreachable, load.StopSource:
		reason = adaptive.PhaseCut
	}
	s.end(one, reason)
}

// end completes the files of a phase.
func (s *AdaptiveLoad) end(p *adaptivePhase, reason string) {
	p.mu.Lock()
	c := p.control
	p.mu.Unlock()
	if c == nil {
		return
	}
	close(p.stop)
	p.loop.Wait()
	p.mu.Lock()
	p.control = nil
	p.mu.Unlock()
	c.Stop(time.Now(), reason)
	data, err := c.Summary(&p.of)
	if err == nil {
		err = artifact.WriteFile(s.layout.AdaptiveSummary(p.of.Phase), s.secrets.JSON(append(data, '\n')))
	}
	s.failed(errors.Join(err, p.events.Close()))
}

func (s *AdaptiveLoad) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

// Stop implements component.
func (s *AdaptiveLoad) Stop(context.Context) error {
	for _, one := range s.phases {
		s.end(one, adaptive.PhaseCut)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
