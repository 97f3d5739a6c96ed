package watch

import (
	"context"
	"math"
	"runtime/metrics"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry/machine"
	"aiperf/internal/workload/load"
)

// Meter measures the resources that the client itself uses, from the start of the first profiling phase to the end of the last: CPU time, pauses of
// the garbage collector, stops of the process and waits of its threads.
type Meter struct {
	Check     func() // called every 2 ms while requests are in flight; may be nil
	cores     int
	quota     machine.Quota // when the measurement began
	Heartbeat *clock.Heartbeat

	mu    sync.Mutex
	begun *clientSample
	used  Usage
}

// clientSample is what the system reports at one instant.
type clientSample struct {
	at     int64
	cpu    time.Duration
	pauses *metrics.Float64Histogram
}

func sampleClient() *clientSample {
	return &clientSample{at: clock.Now(), cpu: ProcessCPU(), pauses: readPauses()}
}

// pauseMetric is the runtime's histogram of stop-the-world pauses of the garbage collector, in seconds.
const pauseMetric = "/sched/pauses/total/gc:seconds"

// Start implements component: it starts the heartbeat.
func (m *Meter) Start(context.Context) error {
	clock.RequestShortTimeslices()
	m.cores, m.Heartbeat = processors.Cores(), clock.StartHeartbeat(m.Check)
	return nil
}

// PhaseStart implements component. The measurement begins with the first profiling phase: the warm-up does not affect the verdict.
func (m *Meter) PhaseStart(p *load.PhaseInfo) {
	if p.Warmup {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun == nil {
		m.begun, m.quota = sampleClient(), machine.ReadQuota()
		m.Heartbeat.Mark()
	}
}

// PhaseEnd implements component.
func (m *Meter) PhaseEnd(f *load.PhaseStats) {
	if f.Info.Warmup {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun == nil {
		return
	}
	now := sampleClient()
	m.used = Usage{Wall: time.Duration(now.at - m.begun.at), CPU: now.cpu - m.begun.cpu, Cores: m.cores, Stalls: m.Heartbeat.Stalls(), Quota: quotaUse(m.quota, machine.ReadQuota())}
	m.used.MaxPause, m.used.TotalPause = pauses(m.begun.pauses, now.pauses)
}

// Stop implements component.
func (m *Meter) Stop(context.Context) error {
	m.Heartbeat.Stop()
	return nil
}

// Usage returns the resources that the completed profiling phases used.
func (m *Meter) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// SoFar returns the resources that the profiling phases have used so far; false before the first of them.
func (m *Meter) SoFar() (u Usage, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun == nil {
		return u, false
	}
	return Usage{Wall: time.Duration(clock.Now() - m.begun.at), CPU: ProcessCPU() - m.begun.cpu, Cores: m.cores, Stalls: m.Heartbeat.SoFar(), Quota: quotaUse(m.quota, m.quota)}, true
}

// Usage is the result of a meter.
type Usage struct {
	Wall  time.Duration
	CPU   time.Duration // user and system time of all threads
	Cores int           // cores that the process may use
	// Pauses of the garbage collector, from the runtime's histogram: upper bounds.
	MaxPause, TotalPause time.Duration
	Stalls               clock.Stalls
	Quota                metric.QuotaUse
}

// share returns the part of the available CPU time that the process used, 0 to 1. The CPU time is that of the available cores, or of the quota if that
// is less.
func (u Usage) share() float64 {
	if u.Wall <= 0 || u.Cores == 0 {
		return 0
	}
	available := float64(u.Cores)
	if u.hasQuota() {
		available = u.Quota.QuotaCores
	}
	return float64(u.CPU) / (float64(u.Wall) * available)
}

// hasQuota reports whether a quota grants less CPU time than the available cores have.
func (u Usage) hasQuota() bool {
	return u.Quota.QuotaCores > 0 && u.Quota.QuotaCores < float64(u.Cores)
}

// quotaUse returns how a quota was used between two readings. It ignores the counters of a quota that changed in between.
func quotaUse(before, after machine.Quota) metric.QuotaUse {
	u := metric.QuotaUse{QuotaCores: after.CPUs, QuotaPeriod: after.Period}
	if periods, stops := after.Periods-before.Periods, after.Throttled-before.Throttled; before.CPUs == after.CPUs && periods >= stops && stops >= 0 {
		u.QuotaPeriods, u.QuotaStops = periods, stops
	}
	return u
}

func readPauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: pauseMetric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return sample[0].Value.Float64Histogram()
}

// pauses returns the longest and the total pause between two readings. Every pause counts as the upper end of its bucket.
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

// MemoryInUse returns the memory that the process has from the system, in bytes; 0 = unknown.
func MemoryInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		return int64(sample[0].Value.Uint64())
	}
	return 0
}
