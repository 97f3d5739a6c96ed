//go:build unix

package simulation

import "syscall"

// ownGroup returns attributes that protect a child process from the signals of the terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
