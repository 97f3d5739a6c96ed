package sandbox

import "time"

// Limits of one program.
const (
	// Time is the maximum run time.
	Time      = 6 * time.Second
	startTime = 2 * time.Second // time for the start of the sandbox and the interpreter
	fileSize  = 64 << 20        // maximum size of a file, bytes
	openFiles = 64
	maxOutput = 64 << 20 // bytes
	diskSize  = 64 << 20 // size of /tmp, and of /dev/shm, bytes
	diskFiles = 16 << 10 // maximum number of files in each
)

// bounds are the limits of a program, including all processes that it starts.
type bounds struct {
	address   uint64 // address space of one process, bytes
	memory    int64  // memory of all processes, bytes
	processes int    // total number of processes and threads
}

var usualBounds = bounds{address: 4 << 30, memory: 2 << 30, processes: 128}
