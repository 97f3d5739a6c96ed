// Package view shows a run while it runs: on a dashboard, as a line of progress, and in the live file for other processes.
package view

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/ui"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/component"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/watch"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/workload/load"
)

// View is the state of a run that a dashboard shows. It exists before the run has anything to show. The load never waits for it.
type View struct {
	component.Passive
	cfg      *config.Benchmark
	running  *ui.Running
	Stalls   *watch.StallDetector
	began    time.Time
	stopping func() bool
	secrets  *redact.Secrets      // removed from everything that is shown
	shown    *dashboard.Dashboard // nil = no dashboard
	listing  listingProgress
	label    string // of the run in its series, "" = a single run
	place    string // of the run in its series: "run 2 of 3"; "" = a single run
	cores    int    // cores that the process may use, read before the load reserves some

	mu        sync.Mutex // guards what the parts of a run report
	steps     []liveview.Step
	stepped   time.Time
	load      load.Sender // nil = the load has not begun
	exporters *exporters.Collection
	health    *watch.Health // nil until the load begins
	over      bool          // the load has ended
	final     *liveview.Figures
	log       []liveview.Line
	logged    int // number of log lines so far
	errors    errorLines
}

// startSteps lists the stages of a start that may take long, with the names that are shown.
var startSteps = []struct{ stage, name string }{
	{"dataset", "Dataset"}, {"tokenizers", "Tokenizer"}, {"servers", "Simulation"}, {"connections", "Connections"}, {"probe", "Server"}, {"telemetry", "Telemetry"},
}

// New returns the view of a run that has not started. stopping reports whether the user has interrupted the run.
func New(cfg *config.Benchmark, secrets *redact.Secrets, stopping func() bool) *View {
	v := &View{cfg: cfg, secrets: secrets, running: ui.NewRunning(), Stalls: new(watch.StallDetector), cores: processors.Cores(), began: time.Now(), stopping: stopping}
	for _, s := range startSteps {
		if s.stage != "servers" || simulates(cfg) {
			v.steps = append(v.steps, liveview.Step{Name: s.name})
		}
	}
	return v
}

// SetPlace sets the place of the run in its series, for people: "run 2 of 3". It must be called before the view is shown.
func (v *View) SetPlace(place string) { v.place = place }

// simulates reports whether a server of the run is simulated.
func simulates(cfg *config.Benchmark) bool {
	for _, u := range cfg.Endpoint.URLs {
		if strings.HasPrefix(u, mockserver.Scheme) {
			return true
		}
	}
	return false
}

// Show shows the view on a terminal until hide. web is the address of the live page, label what distinguishes the run in its series; "" = there is
// none.
func (v *View) Show(t *dashboard.Terminal, dir, web, label string) error {
	v.label = label
	shown, err := dashboard.Start(dashboard.Options{
		Terminal: *t, Fill: newSnapshotter(v).fill, Copy: v.whole, Web: web,
		Interrupt: func() {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(os.Interrupt)
			}
		},
		Save: func(name string, content []byte) (string, error) {
			if _, err := os.Stat(dir); err != nil {
				return "", errors.New("there is no artifact directory yet")
			}
			path := filepath.Join(dir, name)
			return path, artifact.WriteFile(path, content)
		},
	})
	v.shown = shown
	return err
}

// Source returns a function that fills in the state of the run for the live page. One goroutine calls it at a time.
func (v *View) Source() func(*liveview.State) {
	s := newSnapshotter(v)
	const widest = 200
	return func(state *liveview.State) { s.fill(liveview.View{Width: widest, All: true}, state) }
}

// Busy returns how many goroutines of views draw, a few milliseconds at a time.
func (v *View) Busy() int {
	if v.shown != nil {
		return 1
	}
	return 0
}

// Displayed reports whether a dashboard shows the view.
func (v *View) Displayed() bool { return v.shown != nil }

// Hide restores the terminal.
func (v *View) Hide() {
	if v.shown != nil {
		_ = v.shown.Stop() // a broken view must not end the run; the log has the same information
		v.shown = nil
	}
}

// Stage records that a stage of the start begins or is done.
func (v *View) Stage(name string, done bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range startSteps {
		if s.stage != name {
			continue
		}
		for i := range v.steps {
			if v.steps[i].Name != s.name {
				continue
			}
			if !done {
				v.steps[i].State, v.stepped = liveview.Runs, time.Now()
			} else {
				v.steps[i].State, v.steps[i].Took = liveview.Done, time.Since(v.stepped)
			}
		}
	}
}

// BeginLoad records that the load begins.
func (v *View) BeginLoad(g load.Sender, w *exporters.Collection, h *watch.Health) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load, v.exporters, v.health = g, w, h
	v.steps = []liveview.Step{{Name: liveview.Starting.String(), Text: "ready", State: liveview.Done, Took: time.Since(v.began)}}
	for _, p := range v.cfg.PhasesSent() {
		v.steps = append(v.steps, liveview.Step{Name: phaseTitle(p.Name), Text: describePhase(&p)})
	}
	v.steps = append(v.steps, liveview.Step{Name: liveview.Processing.String(), Text: "reduce, write files"})
}

// phaseTitle returns the name of a phase as it is shown.
func phaseTitle(name string) string {
	switch name {
	case "profiling":
		return liveview.Profiling.String()
	case "warmup", config.ReplayWarmup:
		return liveview.Warmup.String()
	}
	return terminal.Line(name)
}

// PhaseStart implements component.
func (v *View) PhaseStart(p *load.PhaseInfo) {
	if !p.Warmup && p.Profiling == 0 {
		v.Stalls.Reset()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errors = errorLines{}
	if i := p.Index + 1; i < len(v.steps) {
		v.steps[i].State = liveview.Runs
	}
}

// PhaseEnd implements component.
func (v *View) PhaseEnd(f *load.PhaseStats) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := f.Info.Index + 1; i < len(v.steps) {
		s := &v.steps[i]
		s.State, s.Took = liveview.Done, time.Duration(f.Ended-f.Started)
		s.Text = terminal.Plural(f.Completed, "request") + ", " + terminal.Plural(f.Errors, "error")
	}
}

// EndLoad records that the load is over.
func (v *View) EndLoad() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	if n := len(v.steps); n > 0 {
		v.steps[n-1].State = liveview.Runs
	}
}

// ShowFinal makes the last frame show the figures of the report.
func (v *View) ShowFinal(s *metric.Summary) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.final = figuresOf(s)
}

// figuresOf returns the six figures of a finished run.
func figuresOf(s *metric.Summary) *liveview.Figures {
	none := math.NaN()
	one := func(tag string) liveview.Figure {
		f := liveview.Figure{Recent: none, Run: none, P90: none, P99: none, Avg: none, Max: none, Min: none, Std: none}
		r, ok := s.Get(tag)
		switch {
		case ok && r.Kind == metric.Record:
			f.Run, f.P90, f.P99, f.Avg = r.Values[metric.P50], r.Values[metric.P90], r.Values[metric.P99], r.Values[metric.Avg]
			f.Max, f.Min, f.Std = r.Values[metric.Max], r.Values[metric.Min], r.Values[metric.Std]
		case ok:
			f.Run = r.Values[metric.Avg]
		}
		return f
	}
	return &liveview.Figures{
		Requests: one("request_throughput"), Tokens: one("output_token_throughput"), TTFT: one("time_to_first_token"),
		ITL: one("inter_token_latency"), Latency: one("request_latency"), Errors: one("request_error_rate"), Goodput: one("goodput"),
	}
}

// Observe implements pipeline.Observer: it updates the figures of answers.
func (v *View) Observe(row *metric.Row) {
	v.running.Add(row)
	if row.Class == metric.Failed {
		v.failed(row)
	}
}
