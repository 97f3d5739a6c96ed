//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Claim makes the directory and takes it for this process until release is called or the process ends, however it ends: the lock is the
// kernel's, on the directory itself, and leaves no file. Another process that holds it is an error; a file system without locks is none.
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
		return nil, fmt.Errorf("%s: another run is writing there", dir)
	}
	return func() { _ = d.Close() }, nil
}
