//go:build !unix

package simulation

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
