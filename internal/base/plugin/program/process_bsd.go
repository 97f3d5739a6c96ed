//go:build unix && !linux

package program

import "syscall"

// attributes put the program in its own process group, away from the signals of the terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// sealDescriptors does nothing: all descriptors that aiperf opens are closed on exec.
func sealDescriptors() {}

// awaitUnreaped does nothing: this system cannot wait for a process without freeing its number.
func awaitUnreaped(int) bool { return false }
