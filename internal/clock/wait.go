package clock

import "time"

// Waiter sleeps until absolute instants. One goroutine waits, any goroutine may wake it. Attach and Detach frame the stretch in which
// that goroutine waits: a precise waiter keeps it on one operating-system thread meanwhile.
type Waiter interface {
	Attach()
	Detach()
	// Until returns true once the instant is reached, false when Wake came before. A Wake without a sleeper ends the next Until.
	Until(at int64) bool
	Wake()
	// Precise tells whether deadlines are kept by the kernel (tens of microseconds late) or by the runtime's timers (about a millisecond).
	Precise() bool
}

// TimerWaiter waits with the runtime's timers. It works on every platform, and on the virtual clock of testing/synctest.
type TimerWaiter struct{ wake chan struct{} }

// NewTimerWaiter returns a waiter on the runtime's timers.
func NewTimerWaiter() *TimerWaiter { return &TimerWaiter{wake: make(chan struct{}, 1)} }

// Attach does nothing: any thread will do.
func (w *TimerWaiter) Attach() {}

// Detach does nothing.
func (w *TimerWaiter) Detach() {}

// Precise is false.
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

// Wake ends the present or the next Until.
func (w *TimerWaiter) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
