// Package heapgrowth decides by how many percent the heap may grow between two garbage collections. A low percentage saves memory and costs CPU time.
package heapgrowth

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	freely    = 8 << 20   // bytes by which every heap may grow
	least     = 25        // percent by which every heap may grow
	perRate   = 1e-6      // percent for each byte per second that is allocated
	ofLarge   = 40        // most percent of a large heap: it holds columns of numbers, which cost a collection little
	largeHeap = 100 << 20 // bytes in use from which a heap is large
)

var (
	mu      sync.Mutex
	limits  = map[*int]bool{} // percentages of everybody who limits the growth now
	applied int               // the lowest of them; 0 = none was ever set
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
	lowest := usual()
	for p := range limits {
		lowest = min(lowest, *p)
	}
	if lowest != applied { // a change stops the program for a moment
		applied = lowest
		debug.SetGCPercent(lowest)
	}
}

// growth returns by how many percent a heap may grow, of which a number of bytes is in use, while rate bytes per second are allocated. A collection costs
// time in proportion to what is in use, some 0.4 ms for 1 MB. So with a growth in proportion to the rate collections take a constant share, some 4 % of a
// core.
func growth(live uint64, rate float64) int {
	p := max(least, int(100*freely/max(1, live)), int(perRate*rate))
	if live >= largeHeap {
		p = min(p, ofLarge)
	}
	return min(p, usual())
}

// Watch looks at the heap after every collection, and limits its growth. If the user has set GOGC, it does nothing.
func Watch() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	w := &watch{release: func() {}, began: time.Now()}
	_, w.before = heap()
	w.next()
	return w.stop
}

// watch is a running Watch.
type watch struct {
	began  time.Time
	before uint64 // bytes allocated until then

	mu      sync.Mutex
	over    bool
	release func() // ends the limit that applies
	percent int    // that limit; 0 = none
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
	live, allocated := heap()
	if p := growth(live, w.rate(allocated)); p != w.percent {
		before := w.release
		w.percent, w.release = p, Limit(p)
		before()
	}
	w.next()
}

// rate returns the bytes that were allocated per second, on average since the beginning. The second before it counts too, so that the burst of a start
// weighs little.
func (w *watch) rate(allocated uint64) float64 {
	return float64(allocated-w.before) / (time.Since(w.began) + time.Second).Seconds()
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.release()
}

// heap returns how many bytes the last collection found in use, and how many have been allocated since the start of the program.
func heap() (live, allocated uint64) {
	m := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64(), m[1].Value.Uint64()
}
