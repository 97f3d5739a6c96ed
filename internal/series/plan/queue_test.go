package plan

import (
	"bufio"
	"container/heap"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"testing"

	"aiperf/internal/sim/mockserver"
)

// places are the instants from which on the places of a queue are free, the earliest first.
type places struct{ sort.Float64Slice }

func (p *places) Push(v any) { p.Float64Slice = append(p.Float64Slice, v.(float64)) }
func (p *places) Pop() any {
	last := p.Float64Slice[len(p.Float64Slice)-1]
	p.Float64Slice = p.Float64Slice[:len(p.Float64Slice)-1]
	return last
}

// lateShare is the share of Poisson arrivals at a rate that c places, each of them taken for d s, answer after more than limit s.
func lateShare(rate float64, c int, d, limit float64) float64 {
	const arrivals = 400_000
	r := rand.New(rand.NewPCG(1, 2))
	free := &places{make(sort.Float64Slice, c)}
	now, late := 0.0, 0.0
	for range arrivals {
		now += r.ExpFloat64() / rate
		done := max(now, heap.Pop(free).(float64)) + d
		heap.Push(free, done)
		if done-now > limit {
			late++
		}
	}
	return late / arrivals
}

// queueTruth is the highest rate at which no more than a share of requests is late, by simulation of 400,000 arrivals.
func queueTruth(c int, d, limit, share float64) float64 {
	low, high := .1*float64(c)/d, float64(c)/d
	for range 16 {
		if m := math.Sqrt(low * high); lateShare(m, c, d, limit) > share {
			high = m
		} else {
			low = m
		}
	}
	return low
}

// TestQueueTruth: one place is the queue M/D/1, whose mean wait is known (Pollaczek and Khinchine); with as many places as requests nobody waits.
func TestQueueTruth(t *testing.T) {
	if v := lateShare(50, 1000, .2, .2000001); v != 0 {
		t.Errorf("%v wait for 1000 places", v)
	}
	// P(wait = 0) of M/D/1 is 1 - rate x service.
	if v := lateShare(6, 1, .1, .1000001); math.Abs(v-.6) > .005 {
		t.Errorf("%.4f wait, want 0.6", v)
	}
}

// servedAtMost is the highest number of answers per s in any 2 s of a server's own log.
func servedAtMost(t *testing.T, path string) float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ends []float64
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one mockserver.Truth
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if one.Outcome == "ok" && len(one.Writes) > 0 {
			ends = append(ends, float64(one.Writes[len(one.Writes)-1].After)/1e9)
		}
	}
	sort.Float64s(ends)
	most, from := 0, 0
	for i, at := range ends {
		for ends[from] < at-2 {
			from++
		}
		most = max(most, i-from+1)
	}
	return float64(most) / 2
}
