// Package heapgrowth decides by how many percent the heap may grow between two garbage collections. A low percentage saves memory and costs CPU time.
package heapgrowth

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	ofLarge   = 40        // percent, of a large heap: it holds columns of numbers, which cost a collection little
	largeHeap = 100 << 20 // bytes in use from which a heap is large
)

var (
	mu     sync.Mutex
	limits = map[*int]bool{} // percentages that apply now
)

// usual returns the percentage without limits: Go's default, or that of the user's GOGC; negative = the user has turned collections off.
var usual = sync.OnceValue(func() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
})

// Limit keeps the growth at or below a percentage until restore is called.
func Limit(percent int) (restore func()) {
	mu.Lock()
	defer mu.Unlock()
	if usual() < 0 {
		return func() {}
	}
	limits[&percent] = true
	apply()
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		delete(limits, &percent)
		apply()
	})
}

// apply sets the lowest percentage that applies. The caller holds mu.
func apply() {
	least := usual()
	for p := range limits {
		least = min(least, *p)
	}
	debug.SetGCPercent(least)
}

// Watch looks at the heap after every collection, and limits its growth while it is large. If the user has set GOGC, it does nothing.
func Watch() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	w := &watch{release: func() {}}
	w.next()
	return w.stop
}

// watch is a running Watch.
type watch struct {
	mu      sync.Mutex
	over    bool
	release func() // ends the limit that applies
	limited bool
}

// sentinel is an object that nothing refers to, so every collection finds it.
type sentinel struct{ _ [16]byte }

// next waits for the next collection.
func (w *watch) next() {
	runtime.AddCleanup(new(sentinel), func(w *watch) { w.collected() }, w)
}

// collected is called after a collection.
func (w *watch) collected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if large := liveHeap() >= largeHeap; large != w.limited {
		w.limited = large
		w.release()
		if w.release = func() {}; large {
			w.release = Limit(ofLarge)
		}
	}
	w.next()
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.release()
}

// liveHeap returns how many bytes the last collection found in use.
func liveHeap() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
