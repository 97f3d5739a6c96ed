package view

import (
	"math"
	"slices"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/ui"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/load"
)

// client holds the resources that the client itself uses.
type client struct {
	at     time.Time
	cpu    time.Duration
	share  float64 // percent of the cores that it may use
	memory int64
}

// snapshotter takes snapshots of a run for one reader: a dashboard, the line of progress, or the live file. Each reader has its own, because it
// stores the previous snapshot. It is used by one goroutine.
type snapshotter struct {
	*View
	tracker  *ui.Tracker
	client   client
	gpuAfter time.Time // the GPUs are not read again before
	gpus     []liveview.GPU
	gpuNote  []string
	judged   time.Time // when the health was last updated
	healthy  liveview.Health
	capped   bool // all slots of the phase were in use at some update
	phase    int  // index of the phase of capped
	pods     podEvents
}

func newSnapshotter(v *View) *snapshotter {
	return &snapshotter{View: v, tracker: ui.NewTracker(v.running), client: client{share: math.NaN()}, healthy: unmeasured, pods: newPodEvents()}
}

// unmeasured is the health of a client that has not measured anything.
var unmeasured = liveview.Health{LagP99: math.NaN(), ReadDelay: math.NaN(), CPUWait: math.NaN()}

// fill updates the state.
func (v *snapshotter) fill(shown liveview.View, s *liveview.State) {
	v.mu.Lock()
	g, w, h, over, final := v.load, v.exporters, v.health, v.over, v.final
	s.Log, s.Steps = v.log, append(s.Steps[:0], v.steps...)
	for i := range s.Steps {
		if s.Steps[i].State == liveview.Runs && g == nil {
			s.Steps[i].Took = time.Since(v.stepped)
		}
	}
	v.mu.Unlock()
	if s.Plan.Target == "" {
		s.Plan = DescribePlan(v.cfg)
		s.Plan.Place = v.place
		if v.label != "" {
			s.Plan.What = append([]string{terminal.Line(v.label)}, s.Plan.What...)
		}
	}
	s.Stopping = v.stopping()
	var now load.Snapshot
	if g != nil {
		now = g.Snapshot()
	}
	line, ok := progressSnapshot(now)
	if !ok {
		v.starting(s)
		return
	}
	s.Stage, s.Phase = stageOf(&now, over), phaseTitle(now.Info.Name)
	v.usage(&s.Counts.CPU)
	v.stall(s, &now)
	v.tracker.Fill(&line, time.Now(), shown, s)
	v.pods.fill(clock.Wall(now.Started), s)
	v.judge(shown, s, h, &now)
	v.listing.fill(s, time.Now())
	if final != nil {
		keep := s.Figures
		s.Figures = *final
		for _, pair := range [][2]*liveview.Figure{{&s.Figures.Requests, &keep.Requests}, {&s.Figures.Tokens, &keep.Tokens}, {&s.Figures.TTFT, &keep.TTFT}, {&s.Figures.ITL, &keep.ITL}, {&s.Figures.Latency, &keep.Latency}, {&s.Figures.Errors, &keep.Errors}, {&s.Figures.Goodput, &keep.Goodput}} {
			pair[0].Recent, pair[0].Trend, pair[0].Silent = pair[1].Recent, pair[1].Trend, pair[1].Silent
		}
		if math.IsNaN(s.Figures.Errors.Run) {
			s.Figures.Errors.Run = keep.Errors.Run
		}
		s.Metrics = finalRates(s.Metrics, final)
	}
	s.Workers = v.workers(s)
	v.telemetry(shown, w, clock.Wall(now.Started), s)
}

// finalRates returns a copy of the table of metrics with the rates of the report. The rates so far divide by all the time that has passed, the report by
// the time to the last good answer.
func finalRates(groups []liveview.Group, final *liveview.Figures) []liveview.Group {
	rates := map[string]float64{}
	for tag, f := range map[string]*liveview.Figure{"request_throughput": &final.Requests, "output_token_throughput": &final.Tokens, "goodput": &final.Goodput} {
		if m, ok := metric.Lookup(tag); ok {
			rates[m.Header] = f.Run
		}
	}
	groups = slices.Clone(groups)
	for g := range groups {
		groups[g].Rows = slices.Clone(groups[g].Rows)
		for i := range groups[g].Rows {
			row := &groups[g].Rows[i]
			if v, ok := rates[row.Name]; ok && row.One && !math.IsNaN(v) {
				row.Avg = v
			}
		}
	}
	return groups
}

// starting fills the state before the first request.
func (v *snapshotter) starting(s *liveview.State) {
	s.Stage, s.Known = liveview.Starting, true
	done := 0
	for _, one := range s.Steps {
		if one.State == liveview.Done {
			done++
		}
	}
	s.Share = float64(done) / float64(max(len(s.Steps), 1))
	s.Counts = liveview.Counts{ETA: -1, RecordsETA: -1, RecordsShare: math.NaN(), CPU: math.NaN()}
	s.Health = unmeasured
}

// stageOf returns the stage that a phase is in.
func stageOf(s *load.Snapshot, over bool) liveview.Stage {
	switch {
	case over:
		return liveview.Processing
	case s.SentAll != 0:
		return liveview.Draining
	case s.Info.Warmup:
		return liveview.Warmup
	}
	return liveview.Profiling
}

// stall fills in the stalls of the servers in the phase that is shown.
func (v *snapshotter) stall(s *liveview.State, now *load.Snapshot) {
	at := clock.Now()
	s.Stall = liveview.Stall{}
	if current := v.Stalls.Current(at); current.To != 0 && s.Stage != liveview.Processing {
		from := max(current.From, now.Started)
		s.Stall.Now, s.Stall.NowAt, s.Stall.Waits = time.Duration(at-from), float64(from-now.Started)/1e9, current.Waiting
		return
	}
	started := clock.Wall(now.Started)
	for _, one := range v.Stalls.Silences() {
		if one.From >= started {
			s.Stall.Past, s.Stall.PastAt, s.Stall.Waits = time.Duration(one.To-one.From), float64(one.From-started)/1e9, one.Waiting
			s.Stall.Count++
		}
	}
}

// usage updates the client's CPU share, once a second.
func (v *snapshotter) usage(cpu *float64) {
	c := &v.client
	if now := time.Now(); now.Sub(c.at) >= time.Second {
		used := watch.ProcessCPU()
		if !c.at.IsZero() && used > 0 {
			c.share = 100 * float64(used-c.cpu) / float64(now.Sub(c.at)) / float64(v.cores)
		}
		c.at, c.cpu = now, used
		c.memory = watch.MemoryInUse()
	}
	*cpu = c.share
}

// judge fills in the health of the client once a second, for views that show it.
func (v *snapshotter) judge(shown liveview.View, s *liveview.State, h *watch.Health, now *load.Snapshot) {
	if now.Info.Index != v.phase {
		v.phase, v.capped, v.judged = now.Info.Index, false, time.Time{}
	}
	v.capped = v.capped || now.Phase.Concurrency > 0 && now.InFlight() >= int64(now.Phase.Concurrency)
	lag := s.Health.LagP99
	if at := time.Now(); h != nil && (shown.All || shown.Panel == liveview.Workers || shown.Width >= liveview.PictureWidth) && at.Sub(v.judged) >= time.Second && s.Stage != liveview.Processing {
		v.judged = at
		v.healthy = h.SoFar(s, now, v.capped, v.cfg.As)
	}
	s.Health = v.healthy
	s.Health.LagP99 = lag
}

// Limits of the state of workers.
const (
	highLoad    = 85 // percent of the CPU
	errorLasts  = 3  // seconds after a failure
	workersName = "all"
)

// workers returns the only group of workers: each request has its own goroutine.
func (v *snapshotter) workers(s *liveview.State) []liveview.Worker {
	c := &s.Counts
	w := liveview.Worker{Name: workersName, State: "healthy", InFlight: c.InFlight, Done: c.OK, Failed: c.Errors, CPU: v.client.share, Memory: v.client.memory}
	w.Read, w.Written = v.running.Bytes()
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
	return []liveview.Worker{w}
}

// gpuPace is the shortest pause between two evaluations of the GPU samples. gpuShare is the pause as a multiple of the time that one takes: the
// statistics cover all samples so far, which takes long after hours.
const (
	gpuPace  = time.Second
	gpuShare = 100
)

// telemetry fills in the readings of the exporters; the statistics of GPUs only while they are shown.
func (v *snapshotter) telemetry(shown liveview.View, w *exporters.Collection, from int64, s *liveview.State) {
	s.Gauges = s.Gauges[:0]
	if w == nil {
		return
	}
	s.Gauges = append(s.Gauges, w.LiveGauges()...)
	if now := time.Now(); (shown.Panel == liveview.GPUs || shown.All) && now.After(v.gpuAfter) {
		v.gpus, v.gpuNote = w.LiveGPUs(from)
		v.gpuAfter = time.Now().Add(max(gpuPace, gpuShare*time.Since(now)))
	}
	s.GPUs, s.GPUNote = v.gpus, v.gpuNote
}
