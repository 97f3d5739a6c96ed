package run

import (
	"math"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"aiperf/internal/clock"
)

// meter measures what the client itself used between two instants: processor time and garbage-collection pauses.
type meter struct {
	at     int64
	cpu    time.Duration
	pauses *metrics.Float64Histogram
}

// pauseMetric is the runtime's histogram of stop-the-world pauses of the garbage collector, in seconds.
const pauseMetric = "/sched/pauses/total/gc:seconds"

func startMeter() meter {
	return meter{at: clock.Now(), cpu: processCPU(), pauses: readPauses()}
}

// usage is what a meter found.
type usage struct {
	Wall  time.Duration
	CPU   time.Duration // user and system, all threads
	Cores int           // that the process may use
	// Collection pauses, as the runtime's histogram tells them: upper bounds.
	MaxPause, TotalPause time.Duration
}

// share is the part of the available cores that the process used, 0 to 1.
func (u usage) share() float64 {
	if u.Wall <= 0 || u.Cores == 0 {
		return 0
	}
	return float64(u.CPU) / (float64(u.Wall) * float64(u.Cores))
}

func (m meter) stop() usage {
	u := usage{Wall: time.Duration(clock.Now() - m.at), CPU: processCPU() - m.cpu, Cores: runtime.GOMAXPROCS(0)}
	u.MaxPause, u.TotalPause = pauses(m.pauses, readPauses())
	return u
}

// processCPU is the processor time of the process so far; 0 where the system does not tell.
func processCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
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
