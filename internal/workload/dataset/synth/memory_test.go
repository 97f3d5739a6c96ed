package synth

import (
	"runtime"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/testhome"
	"aiperf/internal/workload/dataset"
)

// TestMemoryOfDraws: a conversation of one turn, as in a run in which every request has its own prompt, needs 28 bytes, and nothing is copied as
// the dataset grows. Delays and different numbers of turns are kept only where there are any.
func TestMemoryOfDraws(t *testing.T) {
	if testhome.RaceDetector {
		t.Skip("the memory of the race detector itself would count")
	}
	const n = 300_000
	for name, c := range map[string]struct {
		change func(o *Options)
		most   int64 // bytes of a conversation
	}{
		"single turns":      {func(*Options) {}, 30},
		"two turns, delays": {func(o *Options) { o.Turns.Mean, o.Delay, o.DelayRatio = 2, &dataset.Distribution{Mean: 10}, 1 }, 2*28 + 2*8 + 4},
		"some turns":        {func(o *Options) { o.Turns = dataset.Distribution{Mean: 2, StdDev: 1} }, 80},
	} {
		o := base(t, 3)
		o.Entries, o.Root = n, rng.New(nil)
		c.change(&o)
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		before := heapInUse()
		s.draw(n)
		if grown := heapInUse() - before; grown > c.most*n {
			t.Errorf("%s: %.1f bytes a conversation, at most %d are to be", name, float64(grown)/n, c.most)
		}
		runtime.KeepAlive(s)
	}
}

// TestRelease: a dataset gives the memory of its draws back, also while it generates the next prompts.
func TestRelease(t *testing.T) {
	if testhome.RaceDetector {
		t.Skip("the memory of the race detector itself would count")
	}
	const n = 300_000
	o := base(t, 3)
	o.Entries, o.Root = n, rng.New(nil)
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	before := heapInUse()
	s.draw(n)
	for i := range blockPrompts { // the last ones begin the next block
		s.Conversation(i)
	}
	held := heapInUse() - before
	s.Release()
	if left := heapInUse() - before; held < 20*n || left > n {
		t.Errorf("%d bytes held, %d left", held, left)
	}
	runtime.KeepAlive(s)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
