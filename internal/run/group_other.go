//go:build !unix

package run

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
