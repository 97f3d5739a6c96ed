//go:build amd64 || arm64 || ppc64le || s390x || riscv64 || loong64

package clock

import (
	"runtime"
	"testing"
	"time"
)

// TestWaiterSleepsThroughCollections: a garbage collection interrupts a thread that sleeps without the scheduler's knowledge, because it must stop
// every thread for a moment. The thread then sleeps on until its instant.
func TestWaiterSleepsThroughCollections(t *testing.T) {
	w := NewWaiter()
	over := make(chan struct{})
	early := 0
	go func() {
		defer close(over)
		w.Attach()
		defer w.Detach()
		for range 50 {
			at := Now() + int64(4*time.Millisecond)
			if !w.Until(at) || Now() < at {
				early++
			}
		}
	}()
	for {
		select {
		case <-over:
			if early > 0 {
				t.Errorf("%d of 50 sleeps ended early", early)
			}
			return
		default:
			runtime.GC()
		}
	}
}

// TestWaiterTellsItsWaits: if the user forbids the signals that interrupt a thread, no wait is hidden from the scheduler.
func TestWaiterTellsItsWaits(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	if w := NewWaiter().(*FutexWaiter); w.unnoticed != 0 {
		t.Errorf("waits of up to %v are hidden", time.Duration(w.unnoticed))
	}
}
