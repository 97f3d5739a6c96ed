//go:build !unix

package main

import "os"

// pause and resume do nothing: this system has no signal that stops a process.
func pause(*os.Process)  {}
func resume(*os.Process) {}

// peak returns 0: this system does not report it.
func peak(*os.ProcessState) int64 { return 0 }
