//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/processors"
)

// States of the futex word.
const (
	idle     = iota
	woken    // Wake was called, and no Until has returned for it yet
	sleeping // a thread sleeps on the word
)

// Futex operations, which x/sys does not define.
const (
	futexWake       = 1 | 128 // private to the process
	futexWaitBitset = 9 | 128
	futexAnyBit     = 0xffffffff
)

// FutexWaiter sleeps in the kernel: a futex with an absolute deadline on the monotonic clock. It has its own thread with a timer slack of one
// nanosecond, and bypasses the runtime's poller, which counts in milliseconds.
//
// An idle core needs some tens of microseconds to wake up, on a virtual machine hundreds. The waiter learns how long that takes and asks the kernel
// to wake it that much earlier. It spins for the rest, as far as its budget of CPU time allows.
type FutexWaiter struct {
	word       atomic.Uint32
	offset     int64 // kernel's monotonic ns minus our instant
	early      int64 // ns by which the kernel is asked to wake before the instant
	budget     budget
	nice       int   // nice value of the thread before Attach
	neverSpins bool  // no spinning, no priority
	unnoticed  int64 // ns up to which a wait is not announced to the Go scheduler; 0 = every wait is
}

// Parameters of the spin before a deadline.
const (
	maxEarly   = 1_000_000 // ns
	earlyDown  = 500       // ns by which early shrinks after a wake-up in time
	earlyUp    = 49_500    // ns by which it grows after a late one: in balance, 99 of 100 come in time
	bestNice   = -20
	niceOffset = 20 // the system call returns 40..1

	// maxUnnoticed, in ns, is how long the thread may wait without the Go scheduler's knowledge. If it announces a wait, the runtime's monitor thread
	// wakes every 20 µs until the wait is over. Longer waits are rare enough.
	maxUnnoticed = 5_000_000
)

// NewWaiter returns the most precise waiter of the platform. Its goroutine occupies a processor of the Go scheduler also while it waits, so the caller
// adds one (package processors).
func NewWaiter() Waiter {
	w := &FutexWaiter{offset: monotonicOffset(), budget: newBudget(Now())}
	if processors.Interruptible() {
		w.unnoticed = maxUnnoticed
	}
	return w
}

// NewSleepingWaiter returns a waiter that never spins and needs no priority. It wakes tens of microseconds late, at a fraction of the CPU time. It
// suits callers that record when they really acted.
func NewSleepingWaiter() Waiter { return &FutexWaiter{offset: monotonicOffset(), neverSpins: true} }

// monotonicOffset returns the kernel's monotonic clock minus ours, in ns, from the tightest of several bracketed readings.
func monotonicOffset() int64 {
	var offset int64
	best := int64(1 << 62)
	for range 32 {
		var ts unix.Timespec
		before := Now()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			break
		}
		after := Now()
		if after-before < best {
			best = after - before
			offset = ts.Nano() - (before+after)/2
		}
	}
	return offset
}

// Attach locks the calling goroutine to its thread and sets the thread's timer slack.
func (w *FutexWaiter) Attach() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if w.neverSpins {
		return
	}
	w.nice = bestNice
	if p, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid()); err == nil {
		w.nice = niceOffset - p
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), bestNice) // needs a privilege; without it, busy cores make wake-ups later
}

// Detach restores the thread.
func (w *FutexWaiter) Detach() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0 = the default
	if !w.neverSpins {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), w.nice)
	}
	runtime.UnlockOSThread()
}

// Precise returns true.
func (w *FutexWaiter) Precise() bool { return true }

// Until sleeps until the instant or the next Wake.
func (w *FutexWaiter) Until(at int64) bool {
	ask := at - w.budget.grant(w.early, Now())
	deadline := unix.NsecToTimespec(ask + w.offset)
	slept := false
	for {
		if w.word.CompareAndSwap(woken, idle) {
			return false
		}
		now := Now()
		if now >= ask {
			if slept && !w.neverSpins {
				w.learn(now > at)
			}
			return w.spin(now, at)
		}
		slept = true
		if !w.word.CompareAndSwap(idle, sleeping) {
			continue
		}
		w.sleep(&deadline, ask-now)
		w.word.CompareAndSwap(sleeping, idle) // Timeout or signal: the loop finds out which, and sees a Wake that came in the meantime.
	}
}

// sleep sleeps in the kernel until the deadline, in left ns. It returns earlier if the word changes or a signal comes.
func (w *FutexWaiter) sleep(deadline *unix.Timespec, left int64) {
	if left < w.unnoticed {
		_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&w.word)), futexWaitBitset, sleeping,
			uintptr(unsafe.Pointer(deadline)), 0, futexAnyBit)
		return
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&w.word)), futexWaitBitset, sleeping, uintptr(unsafe.Pointer(deadline)), 0, futexAnyBit)
}

// learn moves early towards the point at which 99 of 100 wake-ups come before the instant.
func (w *FutexWaiter) learn(late bool) {
	if late {
		w.early = min(maxEarly, w.early+earlyUp)
	} else {
		w.early = max(0, w.early-earlyDown)
	}
}

// spin waits actively until the instant; it returns false if Wake came before.
func (w *FutexWaiter) spin(begin, at int64) bool {
	now := begin
	for now < at {
		if w.word.CompareAndSwap(woken, idle) {
			w.budget.spend(now - begin)
			return false
		}
		now = Now()
	}
	w.budget.spend(now - begin)
	return true
}

// Wake ends the current or the next Until.
func (w *FutexWaiter) Wake() {
	if w.word.Swap(woken) == sleeping {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&w.word)), futexWake, 1, 0, 0, 0)
	}
}
