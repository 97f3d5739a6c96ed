//go:build !linux || !(amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

// NewWaiter returns the most precise waiter of the platform.
func NewWaiter() Waiter { return NewTimerWaiter() }

// NewSleepingWaiter returns a waiter that never spins; on this platform no waiter does.
func NewSleepingWaiter() Waiter { return NewTimerWaiter() }
