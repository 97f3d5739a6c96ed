package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/telemetry/servermetrics"
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
	tracker  *ui.Tracker
	pulse    *pulse
	began    time.Time
	stopping func() bool
	secrets  *redact.Secrets      // nothing that is shown has them
	shown    *dashboard.Dashboard // nil = none is

	mu      sync.Mutex // of what the parts of a run tell
	steps   []board.Step
	stepped time.Time
	load    *load.Generator
	watched *watched
	over    bool // the load has ended
	final   *board.Figures
	log     []board.Line
	errors  errorLines

	client  client // of the goroutine that fills
	gpuAt   time.Time
	gpus    []board.GPU
	gpuNote []string
}

// client is what the client itself uses.
type client struct {
	at     time.Time
	cpu    time.Duration
	share  float64 // percent of the cores that it may use
	memory int64
}

// startSteps are the stages of a start that a person waits for, and their names.
var startSteps = []struct{ stage, name string }{
	{"dataset", "Dataset"}, {"tokenizers", "Tokenizer"}, {"servers", "Simulation"}, {"connections", "Connections"}, {"probe", "Server"}, {"telemetry", "Telemetry"},
}

func newView(cfg *config.Benchmark, secrets *redact.Secrets) *liveView {
	v := &liveView{cfg: cfg, secrets: secrets, running: ui.NewRunning(), pulse: new(pulse), began: time.Now(), stopping: func() bool { return false }}
	v.tracker = ui.NewTracker(v.running)
	v.client.share = math.NaN()
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
func (v *liveView) show(ctx context.Context, t *dashboard.Terminal, dir string) error {
	v.stopping = func() bool { return ctx.Err() != nil }
	shown, err := dashboard.Start(dashboard.Options{
		Terminal: *t, Fill: v.fill, Copy: v.whole,
		Interrupt: func() {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(os.Interrupt)
			}
		},
		Save: func(name, text string) (string, error) {
			if _, err := os.Stat(dir); err != nil {
				return "", errors.New("there is no artifact directory yet")
			}
			path := filepath.Join(dir, name+".txt")
			return path, artifact.WriteFile(path, []byte(text))
		},
	})
	v.shown = shown
	return err
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
	for i := range v.cfg.Phases {
		p := &v.cfg.Phases[i]
		v.steps = append(v.steps, board.Step{Name: phaseTitle(p.Name), Text: phaseWords(p)})
	}
	v.steps = append(v.steps, board.Step{Name: board.Processing.String(), Text: "reduce, write files"})
}

// phaseTitle is the name of a phase as it is shown.
func phaseTitle(name string) string {
	switch name {
	case "profiling":
		return board.Profiling.String()
	case "warmup":
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
		s.Text = fmt.Sprintf("%d requests, %d errors", f.Completed, f.Errors)
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

// fill brings the state up to now. One goroutine calls it.
func (v *liveView) fill(shown board.View, s *board.State) {
	v.mu.Lock()
	g, w, over, final := v.load, v.watched, v.over, v.final
	s.Log, s.Steps = v.log, append(s.Steps[:0], v.steps...)
	for i := range s.Steps {
		if s.Steps[i].State == board.Runs && g == nil {
			s.Steps[i].Took = time.Since(v.stepped)
		}
	}
	v.mu.Unlock()
	if s.Plan.Target == "" {
		s.Plan = planWords(v.cfg)
	}
	s.Stopping = v.stopping()
	var now load.Snapshot
	if g != nil {
		now = g.Snapshot()
	}
	line, ok := snapshot(now, v.running)
	if !ok {
		v.starting(s)
		return
	}
	s.Stage, s.Phase = stageOf(&now, over), phaseTitle(now.Info.Name)
	v.usage(&s.Counts.CPU)
	v.tracker.Fill(&line, time.Now(), shown, s)
	if final != nil {
		keep := s.Figures
		s.Figures = *final
		for _, pair := range [][2]*board.Figure{{&s.Figures.Requests, &keep.Requests}, {&s.Figures.Tokens, &keep.Tokens}, {&s.Figures.TTFT, &keep.TTFT}, {&s.Figures.ITL, &keep.ITL}, {&s.Figures.Latency, &keep.Latency}, {&s.Figures.Errors, &keep.Errors}} {
			pair[0].Recent, pair[0].Trend = pair[1].Recent, pair[1].Trend
		}
		if math.IsNaN(s.Figures.Errors.Run) {
			s.Figures.Errors.Run = keep.Errors.Run
		}
	}
	v.stall(s, &now)
	s.Workers = v.workers(s)
	v.telemetry(shown, w, s)
}

// starting is the state before the first request.
func (v *liveView) starting(s *board.State) {
	s.Stage, s.Known = board.Starting, true
	done := 0
	for _, one := range s.Steps {
		if one.State == board.Done {
			done++
		}
	}
	s.Share = float64(done) / float64(max(len(s.Steps), 1))
	s.Counts = board.Counts{ETA: -1, RecordsETA: -1, CPU: math.NaN()}
}

// stageOf is what a phase does.
func stageOf(s *load.Snapshot, over bool) board.Stage {
	switch {
	case over:
		return board.Processing
	case s.SentAll != 0:
		return board.Draining
	case s.Info.Warmup:
		return board.Warmup
	}
	return board.Profiling
}

// stall fills what is told of servers that stand still, of the phase that is shown.
func (v *liveView) stall(s *board.State, now *load.Snapshot) {
	at := clock.Now()
	s.Stall = board.Stall{}
	if current := v.pulse.now(at); current.To != 0 && s.Stage != board.Processing {
		s.Stall.Now, s.Stall.Waits = time.Duration(at-max(current.From, now.Started)), current.Waiting
		return
	}
	started := clock.Wall(now.Started)
	for _, one := range v.pulse.silences() {
		if one.From >= started {
			s.Stall.Past, s.Stall.PastAt, s.Stall.Waits = time.Duration(one.To-one.From), float64(one.From-started)/1e9, one.Waiting
			s.Stall.Count++
		}
	}
}

// usage is the client's share of its processors, taken once a second.
func (v *liveView) usage(cpu *float64) {
	c := &v.client
	if now := time.Now(); now.Sub(c.at) >= time.Second {
		used := processCPU()
		if !c.at.IsZero() && used > 0 {
			c.share = 100 * float64(used-c.cpu) / float64(now.Sub(c.at)) / float64(runtime.GOMAXPROCS(0))
		}
		c.at, c.cpu = now, used
		c.memory = memoryInUse()
	}
	*cpu = c.share
}

// memoryInUse is what the process has of the system's memory, in bytes; 0 = nobody knows.
func memoryInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		return int64(sample[0].Value.Uint64())
	}
	return 0
}

// Limits of the state of workers.
const (
	highLoad    = 85 // percent of the processors
	errorLasts  = 3  // seconds after a failure
	workersName = "all"
)

// workers is the one group that there is: requests are carried by as many goroutines as there are requests.
func (v *liveView) workers(s *board.State) []board.Worker {
	c := &s.Counts
	w := board.Worker{Name: workersName, State: "healthy", InFlight: c.InFlight, Done: c.OK, Failed: c.Errors, CPU: v.client.share, Memory: v.client.memory, Read: -1, Written: -1}
	last := math.Inf(-1)
	for _, e := range s.Errors {
		last = max(last, e.Last)
	}
	switch {
	case c.Elapsed.Seconds()-last < errorLasts:
		w.State = "error"
	case v.client.share > highLoad:
		w.State = "high load"
	case c.InFlight == 0:
		w.State = "idle"
	}
	return []board.Worker{w}
}

// gpuPace is the pause between two looks at everything that GPUs told.
const gpuPace = 2 * time.Second

// gaugeNames are the presets as they are shown.
var gaugeNames = map[string]string{"server_queue_length": "queue", "server_requests_running": "running", "server_kv_cache_usage": "KV cache"}

// telemetry fills what exporters told; GPUs only while somebody looks at them.
func (v *liveView) telemetry(shown board.View, w *watched, s *board.State) {
	s.Servers = s.Servers[:0]
	if w == nil {
		return
	}
	if w.servers != nil {
		for _, p := range servermetrics.Presets {
			if value, ok := w.servers.Latest(p); ok {
				s.Servers = append(s.Servers, board.Gauge{Name: gaugeNames[p.Key], Value: value})
			}
		}
	}
	if now := time.Now(); shown.Panel == board.GPUs && now.Sub(v.gpuAt) >= gpuPace {
		v.gpuAt = now
		v.gpus, v.gpuNote = w.liveGPUs()
	}
	s.GPUs, s.GPUNote = v.gpus, v.gpuNote
}

// liveGPUs are the GPUs as they stand, or why there are none.
func (w *watched) liveGPUs() (list []board.GPU, note []string) {
	if w.gpu == nil {
		return nil, []string{"GPU telemetry is off", w.cfg.As("gpu_telemetry.urls") + " URL asks an exporter; it is read from the start of a run"}
	}
	configured, successful := w.gpu.Sources()
	if len(successful) == 0 {
		asked := strings.Join(configured, ", ")
		if asked == "" {
			asked = strings.Join(w.cfg.Environment.GPU.DefaultDCGMEndpoints, ", ")
		}
		return nil, []string{"no exporter reachable at " + terminal.Line(asked), w.cfg.As("gpu_telemetry.urls") + " URL names another"}
	}
	var window metric.Window
	window.To = math.MaxInt64
	for _, g := range w.gpu.Live(window) {
		one := board.GPU{Title: terminal.Line(fmt.Sprintf("%s | GPU %d | %s", g.Endpoint, g.Index, g.Name))}
		for i := range g.Metrics {
			m := &g.Metrics[i]
			value, ok := g.Current[m.Tag]
			if !ok {
				value = math.NaN()
			}
			one.Rows = append(one.Rows, board.GPUMetric{
				Name: terminal.Line(m.Name), Unit: terminal.Line(m.Unit), Current: value, Avg: m.Values[metric.Avg], Min: m.Values[metric.Min], Max: m.Values[metric.Max],
				P99: m.Values[metric.P99], P90: m.Values[metric.P90], P50: m.Values[metric.P50], Std: m.Values[metric.Std],
			})
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		note = []string{"the exporter has told of no GPU yet"}
	}
	return list, note
}

// Bounds of the log that is shown.
const (
	keptLines  = 2000
	keptLetter = 500
)

// line takes one line of the log.
func (v *liveView) line(at time.Time, level board.Level, text string) {
	text = terminal.Line(v.secrets.Text(text))
	if r := []rune(text); len(r) > keptLetter {
		text = string(r[:keptLetter]) + "…"
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.log) >= 2*keptLines { // what is shown shares the array: it is never written to again
		v.log = append([]board.Line(nil), v.log[len(v.log)-keptLines:]...)
	}
	v.log = append(v.log, board.Line{At: at, Level: level, Text: text})
}

// whole is the log as text.
func (v *liveView) whole() string {
	v.mu.Lock()
	lines := v.log
	v.mu.Unlock()
	var b strings.Builder
	for _, l := range lines[max(0, len(lines)-keptLines):] {
		fmt.Fprintf(&b, "%s %s %s\n", l.At.Format("15:04:05.000"), l.Level, l.Text)
	}
	return b.String()
}

// errorLines bounds the lines that failed requests get in the log that is shown.
type errorLines struct {
	second int64
	n      int
}

// mostErrorLines is how many failed requests of one second are told of, one by one.
const mostErrorLines = 4

// failed tells of a failed request.
func (v *liveView) failed(row *metric.Row) {
	e := row.Err
	v.mu.Lock()
	if second := row.End / 1e9; second != v.errors.second {
		v.errors = errorLines{second: second}
	}
	v.errors.n++
	tell := v.errors.n <= mostErrorLines
	v.mu.Unlock()
	if !tell {
		return
	}
	code := ""
	if e.Code != 0 {
		code = fmt.Sprintf("%d ", e.Code)
	}
	v.line(time.Unix(0, row.End), board.Warning, fmt.Sprintf("%s%s: %s (%s)", code, e.Type, e.Said(), row.Meta.ConversationID))
}

// tee is the handler of the log that also tells the view.
type tee struct {
	slog.Handler
	view *liveView
	with string
}

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		level := board.Info
		switch {
		case r.Level >= slog.LevelError:
			level = board.Error
		case r.Level >= slog.LevelWarn:
			level = board.Warning
		}
		text := r.Message + t.with
		r.Attrs(func(a slog.Attr) bool {
			text += " " + a.Key + "=" + a.Value.String()
			return true
		})
		t.view.line(r.Time, level, text)
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		t.with += " " + a.Key + "=" + a.Value.String()
	}
	t.Handler = t.Handler.WithAttrs(attrs)
	return t
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	t.Handler = t.Handler.WithGroup(name)
	return t
}
