package program

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put the program in its own process group, away from the signals of the terminal, and kill it if aiperf dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// sealDescriptors makes sure that programs inherit no descriptor, not even one that aiperf inherited itself. An old kernel without the call changes
// nothing: all descriptors that aiperf opens are closed on exec anyway.
func sealDescriptors() { _ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) }

// awaitUnreaped waits for the end of a process but leaves its number taken. It reports whether this worked.
func awaitUnreaped(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
