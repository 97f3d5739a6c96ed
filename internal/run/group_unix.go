//go:build unix

package run

import "syscall"

// ownGroup keeps the signals of the terminal from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
