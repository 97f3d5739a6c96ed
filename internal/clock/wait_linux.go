//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// States of the futex word.
const (
	idle     = iota
	woken    // Wake was called, nobody has noticed yet
	sleeping // a thread sleeps on the word
)

// Futex operations; x/sys names none of them.
const (
	futexWake       = 1 | 128 // private to the process
	futexWaitBitset = 9 | 128
	futexAnyBit     = 0xffffffff
)

// FutexWaiter sleeps in the kernel: a futex with an absolute deadline on the monotonic clock, on a thread of its own whose timer slack
// is one nanosecond. The runtime's poller, which counts in milliseconds, is not involved.
type FutexWaiter struct {
	word   atomic.Uint32
	offset int64 // kernel's monotonic ns minus our instant
}

// NewWaiter returns the best waiter of the platform.
func NewWaiter() Waiter { return &FutexWaiter{offset: monotonicOffset()} }

// monotonicOffset compares the kernel's clock with ours in the tightest of a few brackets.
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
}

// Detach gives the thread back as it was.
func (w *FutexWaiter) Detach() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0 = the default
	runtime.UnlockOSThread()
}

// Precise is true.
func (w *FutexWaiter) Precise() bool { return true }

// Until sleeps until the instant or the next Wake.
func (w *FutexWaiter) Until(at int64) bool {
	deadline := unix.NsecToTimespec(at + w.offset)
	for {
		if w.word.CompareAndSwap(woken, idle) {
			return false
		}
		if Now() >= at {
			return true
		}
		if !w.word.CompareAndSwap(idle, sleeping) {
			continue
		}
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&w.word)), futexWaitBitset, sleeping,
			uintptr(unsafe.Pointer(&deadline)), 0, futexAnyBit)
		w.word.CompareAndSwap(sleeping, idle) // timeout or signal; the loop sees which, and a Wake that came meanwhile
	}
}

// Wake ends the present or the next Until.
func (w *FutexWaiter) Wake() {
	if w.word.Swap(woken) == sleeping {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&w.word)), futexWake, 1, 0, 0, 0)
	}
}
