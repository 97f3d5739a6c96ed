//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"encoding/binary"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// gridTimer is a kernel timer that becomes readable at instants of a fixed grid, whatever the process does. It is read in the same way as connections
// are: by a goroutine, through the runtime's poller. So the delay of its reads shows the delay of theirs.
//
// All its system calls are raw ones, because none of them can block. An ordinary system call wakes the runtime's watchdog thread, which then polls
// some sixty times before it sleeps again. Together with a few hundred reads a second, that alone took a seventh of a core.
type gridTimer struct {
	file        *os.File
	raw         syscall.RawConn
	offset      int64 // kernel's monotonic ns minus our instant
	period      int64 // ns
	first       int64 // instant of the first grid point since start
	periodsRead int64 // periods read since start
	read        func(fd uintptr) bool
	buf         [8]byte
	errno       syscall.Errno
}

// newGridTimer returns a stopped timer.
func newGridTimer(period time.Duration) (*gridTimer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	t := &gridTimer{file: os.NewFile(uintptr(fd), "timerfd"), period: int64(period), offset: monotonicOffset()}
	if t.raw, err = t.file.SyscallConn(); err != nil {
		t.file.Close()
		return nil, err
	}
	t.read = func(fd uintptr) bool {
		_, _, t.errno = unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.buf)), uintptr(len(t.buf)))
		return t.errno != unix.EAGAIN
	}
	return t, nil
}

// start starts the timer. It must not be running.
func (t *gridTimer) start() {
	t.first, t.periodsRead = Now()+t.period, 0
	t.set(unix.ItimerSpec{Interval: unix.NsecToTimespec(t.period), Value: unix.NsecToTimespec(t.first + t.offset)})
}

// pause stops the timer until the next start. Only the goroutine that waits for it may call this.
func (t *gridTimer) pause() { t.set(unix.ItimerSpec{}) }

func (t *gridTimer) set(spec unix.ItimerSpec) {
	_ = t.raw.Control(func(fd uintptr) { // fails only if the timer is closed
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, unix.TFD_TIMER_ABSTIME, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
}

// wait blocks until the timer is readable and reads it. An error means that the timer was closed.
func (t *gridTimer) wait() (probeRead, error) {
	if err := t.raw.Read(t.read); err != nil {
		return probeRead{}, err
	}
	if t.errno != 0 {
		return probeRead{}, os.NewSyscallError("read", t.errno)
	}
	k := probeRead{ready: t.first + t.periodsRead*t.period, readAt: Now()}
	t.periodsRead += int64(binary.NativeEndian.Uint64(t.buf[:]))
	k.readAt = max(k.readAt, k.ready)
	return k, nil
}

func (t *gridTimer) close() { t.file.Close() }
