//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Claim creates the directory and locks it for this process until release is called or the process ends. The kernel holds the lock on the directory
// itself, so no lock file remains. It returns an error if another process holds the lock, but not if the file system has no locks.
func Claim(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = d.Close()
		return nil, fmt.Errorf("%s: another run is writing to this directory", dir)
	}
	return func() { _ = d.Close() }, nil
}
