//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package dashboard

import (
	"os"
	"syscall"
)

// modesOf: no keeper here.
func modesOf(*os.File) (text string, ok bool) { return "", false }

func restoreModes(*os.File, string) {}

func apart() *syscall.SysProcAttr { return nil }
