package sandbox

import "time"

// Bounds of one program.
const (
	// Time is how long it may run.
	Time       = 6 * time.Second
	startTime  = 2 * time.Second // what the sandbox and the interpreter may need to begin
	fileSize   = 64 << 20        // bytes of a file
	openFiles  = 64
	mostOutput = 64 << 20 // bytes
	diskSize   = 64 << 20 // bytes of /tmp, and of /dev/shm
	diskFiles  = 16 << 10 // files of each
)

// bounds are limits of a program and of all processes that it starts.
type bounds struct {
	address   uint64 // bytes of address space of one process
	memory    int64  // bytes of memory of all processes
	processes int    // processes and threads of all of them
}

var usualBounds = bounds{address: 4 << 30, memory: 2 << 30, processes: 128}
