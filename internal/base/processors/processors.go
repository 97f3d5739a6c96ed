// Package processors adds processors to the Go scheduler for threads that occupy one without using it. Such a thread waits in the kernel without
// notifying the scheduler, because the notification costs more than the wait.
package processors

import (
	"os"
	"runtime"
	"strings"
	"sync"
)

var (
	mu    sync.Mutex
	added int
)

// Add raises GOMAXPROCS by n until giveBack is called. Every change stops the program for some 50 µs.
func Add(n int) (giveBack func()) {
	change(n)
	return sync.OnceFunc(func() { change(-n) })
}

func change(n int) {
	mu.Lock()
	defer mu.Unlock()
	added += n
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

// Cores returns how many cores the program may use: GOMAXPROCS without what Add has added.
func Cores() int {
	mu.Lock()
	defer mu.Unlock()
	return runtime.GOMAXPROCS(0) - added
}

// Interruptible reports whether the runtime can interrupt such a wait by a signal, which it must do to stop the program for a moment. The user can
// forbid these signals; then the wait must be short.
func Interruptible() bool { return !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") }
