package run

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/terminal"
	"aiperf/internal/ui"
	"aiperf/internal/ui/board"
	"aiperf/internal/ui/dashboard"
)

// liveView is what a dashboard shows of a run. It is there before the run has anything to show, and gathers what it can: who makes load does not
// wait for it.
type liveView struct {
	passive
	cfg      *config.Benchmark
	running  *ui.Running
	pulse    *pulse
	began    time.Time
	stopping func() bool
	secrets  *redact.Secrets      // nothing that is shown has them
	shown    *dashboard.Dashboard // nil = none is
	listing  listingProgress
	cores    int // that the process may use, before the load takes what it needs of them

	mu      sync.Mutex // of what the parts of a run tell
	steps   []board.Step
	stepped time.Time
	load    *load.Generator
	watched *watched
	over    bool // the load has ended
	final   *board.Figures
	log     []board.Line
	told    int // lines of the log so far
	errors  errorLines
}

// startSteps are the stages of a start that a person waits for, and their names.
var startSteps = []struct{ stage, name string }{
	{"dataset", "Dataset"}, {"tokenizers", "Tokenizer"}, {"servers", "Simulation"}, {"connections", "Connections"}, {"probe", "Server"}, {"telemetry", "Telemetry"},
}

func newView(cfg *config.Benchmark, secrets *redact.Secrets, stopping func() bool) *liveView {
	v := &liveView{cfg: cfg, secrets: secrets, running: ui.NewRunning(), pulse: new(pulse), cores: runtime.GOMAXPROCS(0), began: time.Now(), stopping: stopping}
	for _, s := range startSteps {
		if s.stage != "servers" || simulates(cfg) {
			v.steps = append(v.steps, board.Step{Name: s.name})
		}
	}
	return v
}

// simulates tells whether some server of the run is a simulated one.
func simulates(cfg *config.Benchmark) bool {
	for _, u := range cfg.Endpoint.URLs {
		if strings.HasPrefix(u, mockScheme) {
			return true
		}
	}
	return false
}

// show puts the view on a terminal until hide.
func (v *liveView) show(t *dashboard.Terminal, dir string) error {
	shown, err := dashboard.Start(dashboard.Options{
		Terminal: *t, Fill: newEye(v).fill, Copy: v.whole,
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

// busy is how many goroutines of views draw, a few milliseconds at a time.
func (v *liveView) busy() int {
	if v.shown != nil {
		return 1
	}
	return 0
}

// hide gives the terminal back.
func (v *liveView) hide() {
	if v.shown != nil {
		_ = v.shown.Stop() // a view that broke is no reason to lose a run; the log has what there was to say
		v.shown = nil
	}
}

// stage tells that a stage of the start begins, or is done.
func (v *liveView) stage(name string, done bool) {
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
				v.steps[i].State, v.stepped = board.Runs, time.Now()
			} else {
				v.steps[i].State, v.steps[i].Took = board.Done, time.Since(v.stepped)
			}
		}
	}
}

// begin tells that the load begins.
func (v *liveView) begin(g *load.Generator, w *watched) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load, v.watched = g, w
	v.steps = []board.Step{{Name: board.Starting.String(), Text: "ready", State: board.Done, Took: time.Since(v.began)}}
	for _, p := range phasesRun(v.cfg) {
		v.steps = append(v.steps, board.Step{Name: phaseTitle(p.Name), Text: phaseWords(&p)})
	}
	v.steps = append(v.steps, board.Step{Name: board.Processing.String(), Text: "reduce, write files"})
}

// phaseTitle is the name of a phase as it is shown.
func phaseTitle(name string) string {
	switch name {
	case "profiling":
		return board.Profiling.String()
	case "warmup", replayWarmup:
		return board.Warmup.String()
	}
	return terminal.Line(name)
}

// PhaseStart implements component.
func (v *liveView) PhaseStart(p *load.PhaseInfo) {
	if !p.Warmup && p.Profiling == 0 {
		v.pulse.begin()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errors = errorLines{}
	if i := p.Index + 1; i < len(v.steps) {
		v.steps[i].State = board.Runs
	}
}

// PhaseEnd implements component.
func (v *liveView) PhaseEnd(f *load.PhaseStats) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := f.Info.Index + 1; i < len(v.steps) {
		s := &v.steps[i]
		s.State, s.Took = board.Done, time.Duration(f.Ended-f.Started)
		s.Text = terminal.Plural(f.Completed, "request") + ", " + terminal.Plural(f.Errors, "error")
	}
}

// ended tells that the load is over.
func (v *liveView) ended() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	if n := len(v.steps); n > 0 {
		v.steps[n-1].State = board.Runs
	}
}

// conclude makes the last frame show what the report says.
func (v *liveView) conclude(s *metric.Summary) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.final = figuresOf(s)
}

// figuresOf are the six figures of a finished run.
func figuresOf(s *metric.Summary) *board.Figures {
	none := math.NaN()
	one := func(tag string) board.Figure {
		f := board.Figure{Recent: none, Run: none, P90: none, P99: none, Avg: none, Max: none, Min: none, Std: none}
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
	return &board.Figures{
		Requests: one("request_throughput"), Tokens: one("output_token_throughput"), TTFT: one("time_to_first_token"),
		ITL: one("inter_token_latency"), Latency: one("request_latency"), Errors: one("request_error_rate"),
	}
}
