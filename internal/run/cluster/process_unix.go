//go:build unix

package cluster

import "syscall"

// ownGroup starts a process in a separate group, so that Ctrl-C reaches only the controller.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
