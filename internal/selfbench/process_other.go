//go:build !unix

package main

import "os"

// pause and resume do nothing: this system has no signal that holds a process up.
func pause(*os.Process)  {}
func resume(*os.Process) {}

// peak is not told by this system.
func peak(*os.ProcessState) int64 { return 0 }
