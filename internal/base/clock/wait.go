package clock

import "time"

// Waiter sleeps until absolute instants. One goroutine waits, any goroutine may wake it. The waiting goroutine calls Attach before its first wait and
// Detach after its last. In between, a precise waiter locks it to one operating-system thread.
type Waiter interface {
	Attach()
	Detach()
	// Until returns true once the instant is reached, false if Wake came before. A Wake while nobody waits ends the next Until.
	Until(at int64) bool
	Wake()
	// Precise reports whether the kernel keeps the deadlines (tens of microseconds late) or the runtime's timers do (about a millisecond late).
	Precise() bool
}

// TimerWaiter waits with the runtime's timers. It works on every platform, and on the virtual clock of testing/synctest.
type TimerWaiter struct{ wake chan struct{} }

// NewTimerWaiter returns a waiter on the runtime's timers.
func NewTimerWaiter() *TimerWaiter { return &TimerWaiter{wake: make(chan struct{}, 1)} }

// Attach does nothing: the waiter works on any thread.
func (w *TimerWaiter) Attach() {}

// Detach does nothing.
func (w *TimerWaiter) Detach() {}

// Precise returns false.
func (w *TimerWaiter) Precise() bool { return false }

// Until sleeps until the instant or the next Wake.
func (w *TimerWaiter) Until(at int64) bool {
	select {
	case <-w.wake:
		return false
	default:
	}
	left := at - Now()
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(left))
	defer timer.Stop()
	select {
	case <-w.wake:
		return false
	case <-timer.C:
		return true
	}
}

// Wake ends the current or the next Until.
func (w *TimerWaiter) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
