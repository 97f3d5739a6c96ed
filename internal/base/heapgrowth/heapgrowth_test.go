package heapgrowth

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// percent returns the growth that applies now.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// TestLimit: the lowest of the limits applies, in whatever order they end.
func TestLimit(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(usual()) })
	first := Limit(30)
	second := Limit(25)
	third := Limit(60)
	steps := []struct {
		do   func()
		want int
	}{{func() {}, 25}, {first, 25}, {second, 60}, {second, 60}, {third, usual()}}
	for i, s := range steps {
		if s.do(); percent() != s.want {
			t.Errorf("step %d: %d percent, want %d", i, percent(), s.want)
		}
	}
}

// TestGrowth: growths by hand. 8 MiB or 25 percent are always allowed, 1 percent for each MB/s, 40 for a large heap.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		live uint64 // MiB
		rate float64
		want int
	}{
		{0, 0, 100},
		{4, 0, 100},
		{16, 0, 50},
		{22, 14e6, 36},
		{22, 60e6, 60},
		{22, 500e6, 100},
		{64, 0, 25},
		{64, 30e6, 30},
		{99, 90e6, 90},
		{100, 90e6, 40},
		{100, 30e6, 30},
		{1000, 1e6, 25},
	} {
		if got := growth(c.live<<20, c.rate); got != min(c.want, usual()) {
			t.Errorf("%d MiB in use, %.0f MB/s: %d percent, want %d", c.live, c.rate/1e6, got, c.want)
		}
	}
}

// TestWatch: a large heap grows less, and a heap that has become small again grows more.
func TestWatch(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Cleanup(func() { debug.SetGCPercent(usual()) })
	stop := Watch()
	large := make([]byte, largeHeap)
	for _, as := range []func(int) bool{func(p int) bool { return p <= ofLarge }, func(p int) bool { return p > ofLarge }} {
		for n := 0; !as(percent()); n++ {
			if n == 1000 {
				t.Fatalf("%d percent after %d collections, %v", percent(), n, large == nil)
			}
			runtime.GC()
			<-time.After(time.Millisecond) // cleanups run in a goroutine
		}
		runtime.KeepAlive(large)
		large = nil
	}
	stop()
	if percent() != usual() {
		t.Errorf("%d percent after the end", percent())
	}
}

// TestWatchYieldsToTheUser: the user's own setting stays.
func TestWatchYieldsToTheUser(t *testing.T) {
	t.Setenv("GOGC", "200")
	before := debug.SetGCPercent(200)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	stop := Watch()
	defer stop()
	large := make([]byte, largeHeap)
	runtime.GC()
	<-time.After(10 * time.Millisecond)
	if percent() != 200 {
		t.Errorf("%d percent, want 200", percent())
	}
	runtime.KeepAlive(large)
}
