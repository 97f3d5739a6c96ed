package terminal

import "sync"

// The functions that restore the terminal if the process ends early.
var (
	guardMu      sync.Mutex
	restoreGuard func()
)

// Guard registers a function that restores the terminal, before the caller takes it over. Restore calls that function. There is only one terminal.
// The caller calls release after it has restored the terminal itself.
func Guard(restore func()) (release func()) {
	guardMu.Lock()
	defer guardMu.Unlock()
	restoreGuard = restore
	return func() {
		guardMu.Lock()
		defer guardMu.Unlock()
		restoreGuard = nil
	}
}

// Restore restores the terminal if it was taken over. Call it before the process ends early.
func Restore() {
	guardMu.Lock()
	restore := restoreGuard
	restoreGuard = nil
	guardMu.Unlock()
	if restore != nil {
		restore()
	}
}
