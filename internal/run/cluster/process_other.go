//go:build !unix

package cluster

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
