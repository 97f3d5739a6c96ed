package terminal

import "sync"

// What gives the terminal back when the process leaves without going the usual way.
var (
	guardMu sync.Mutex
	guard   func()
)

// Guard notes how to give a terminal back that is about to be taken over: Restore does so. There is one terminal; release ends it when the
// terminal was given back the usual way.
func Guard(restore func()) (release func()) {
	guardMu.Lock()
	defer guardMu.Unlock()
	guard = restore
	return func() {
		guardMu.Lock()
		defer guardMu.Unlock()
		guard = nil
	}
}

// Restore gives the terminal back if somebody has taken it over. It is called before a process ends at once.
func Restore() {
	guardMu.Lock()
	restore := guard
	guard = nil
	guardMu.Unlock()
	if restore != nil {
		restore()
	}
}
