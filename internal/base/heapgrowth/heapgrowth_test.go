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

// TestWatch: a large heap grows less, and a heap that has become small again grows as usual.
func TestWatch(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Cleanup(func() { debug.SetGCPercent(usual()) })
	stop := Watch()
	large := make([]byte, largeHeap)
	for _, want := range []int{ofLarge, usual()} {
		for n := 0; percent() != want; n++ {
			if n == 1000 {
				t.Fatalf("%d percent after %d collections, want %d", percent(), n, want)
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
