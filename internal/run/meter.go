package run

import (
	"context"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/load"
)

// meter measures what the client itself used during the profiling phases, from the start of the first to the end of the last: processor
// time, pauses of the garbage collector, stops of the process and waits of its threads.
type meter struct {
	check func() // called every 2 ms while requests are in flight; may be nil
	cores int
	heart *clock.Heartbeat

	mu    sync.Mutex
	begun *reading
	used  usage
}

// reading is what the system tells at an instant.
type reading struct {
	at     int64
	cpu    time.Duration
	pauses *metrics.Float64Histogram
}

func read() *reading { return &reading{at: clock.Now(), cpu: processCPU(), pauses: readPauses()} }

// pauseMetric is the runtime's histogram of stop-the-world pauses of the garbage collector, in seconds.
const pauseMetric = "/sched/pauses/total/gc:seconds"

// Start implements component: the heart begins to beat.
func (m *meter) Start(context.Context) error {
	clock.AskShortSlices()
	m.cores, m.heart = runtime.GOMAXPROCS(0), clock.StartHeartbeat(m.check)
	return nil
}

// PhaseStart implements component. With the first profiling phase the measurement begins: what a warm-up did is in no verdict.
func (m *meter) PhaseStart(p *load.PhaseInfo) {
	if p.Warmup {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun == nil {
		m.begun = read()
		m.heart.Mark()
	}
}

// PhaseEnd implements component.
func (m *meter) PhaseEnd(f *load.PhaseStats) {
	if f.Info.Warmup {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun == nil {
		return
	}
	now := read()
	m.used = usage{Wall: time.Duration(now.at - m.begun.at), CPU: now.cpu - m.begun.cpu, Cores: m.cores, Stalls: m.heart.Stalls()}
	m.used.MaxPause, m.used.TotalPause = pauses(m.begun.pauses, now.pauses)
}

// Stop implements component.
func (m *meter) Stop(context.Context) error {
	m.heart.Stop()
	return nil
}

// usage is what the profiling phases used, so far as they are complete.
func (m *meter) usage() usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// usage is what a meter found.
type usage struct {
	Wall  time.Duration
	CPU   time.Duration // user and system, all threads
	Cores int           // that the process may use
	// Collection pauses, as the runtime's histogram tells them: upper bounds.
	MaxPause, TotalPause time.Duration
	Stalls               clock.Stalls
}

// share is the part of the available cores that the process used, 0 to 1.
func (u usage) share() float64 {
	if u.Wall <= 0 || u.Cores == 0 {
		return 0
	}
	return float64(u.CPU) / (float64(u.Wall) * float64(u.Cores))
}

func readPauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: pauseMetric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return sample[0].Value.Float64Histogram()
}

// pauses are the longest and the sum of what was added between two readings, every pause taken as long as its bucket allows.
func pauses(before, after *metrics.Float64Histogram) (longest, total time.Duration) {
	if before == nil || after == nil {
		return 0, 0
	}
	for i, n := range after.Counts {
		grown := n - before.Counts[i]
		if grown == 0 {
			continue
		}
		edge := after.Buckets[i+1]
		if math.IsInf(edge, 1) {
			edge = after.Buckets[i]
		}
		longest = time.Duration(edge * float64(time.Second))
		total += time.Duration(grown) * longest
	}
	return longest, total
}
