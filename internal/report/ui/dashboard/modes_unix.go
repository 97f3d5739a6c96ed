//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dashboard

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// modesOf returns the modes of a terminal as text.
func modesOf(f *os.File) (text string, ok bool) {
	m, err := unix.IoctlGetTermios(int(f.Fd()), getModes)
	if err != nil {
		return "", false
	}
	return encode(m), true
}

// restoreModes restores the modes of a terminal, unless another program has changed them since: a view reads Ctrl+C as a key, a shell does not.
func restoreModes(f *os.File, text string) {
	fd := int(f.Fd())
	now, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil || now.Lflag&unix.ISIG != 0 {
		return
	}
	var before unix.Termios
	if decode(text, &before) {
		_ = unix.IoctlSetTermios(fd, setModes, &before)
	}
}

// newSession starts the process in a separate session: no key and no signal of the terminal reaches it, and it may write there whoever has the foreground.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
