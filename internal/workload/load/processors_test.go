package load

import (
	"runtime"
	"testing"

	"aiperf/internal/base/clock"
)

// precise is a waiter; the test asks only whether it has its own thread.
type precise struct{ clock.Waiter }

func (precise) Precise() bool { return true }

// TestProcessors: the scheduler's thread has a processor more, and so has everything that is said to be busy; afterwards it is as before.
func TestProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for busy := range 3 {
		g := &Generator{wait: precise{}, opts: Options{Busy: busy}}
		restore := g.ownProcessor()
		if n := runtime.GOMAXPROCS(0); n != before+1+busy {
			t.Errorf("%d busy: %d processors, %d before", busy, n, before)
		}
		if restore(); runtime.GOMAXPROCS(0) != before {
			t.Errorf("%d busy: %d processors afterwards, %d before", busy, runtime.GOMAXPROCS(0), before)
		}
	}
}
