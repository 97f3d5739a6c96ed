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

// gridTimer is a timer of the kernel that becomes readable at instants of a fixed grid, whatever the process does meanwhile, and is read the
// way connections are: through the runtime's poller, by a goroutine like theirs. How late it is read is how late they are.
//
// All its system calls are raw ones: none can wait, and one that the runtime is told of wakes its watchdog thread, which then looks for what
// hangs some sixty times before it sleeps again. Beside a few hundred reads a second that alone took a seventh of a core.
type gridTimer struct {
	file   *os.File
	raw    syscall.RawConn
	offset int64 // kernel's monotonic ns minus our instant
	period int64 // ns
	first  int64 // instant at which it was readable for the first time since start
	gone   int64 // periods that were read since then
	read   func(fd uintptr) bool
	buf    [8]byte
	errno  syscall.Errno
}

// newGridTimer makes one that does not run.
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

// start makes it run. It must not run already.
func (t *gridTimer) start() {
	t.first, t.gone = Now()+t.period, 0
	t.set(unix.ItimerSpec{Interval: unix.NsecToTimespec(t.period), Value: unix.NsecToTimespec(t.first + t.offset)})
}

// pause makes it stand still until the next start. Only the goroutine that waits for it may call this.
func (t *gridTimer) pause() { t.set(unix.ItimerSpec{}) }

func (t *gridTimer) set(spec unix.ItimerSpec) {
	_ = t.raw.Control(func(fd uintptr) { // it fails only when the timer is closed
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, unix.TFD_TIMER_ABSTIME, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
}

// wait blocks until it is readable and reads it; an error says that it was closed.
func (t *gridTimer) wait() (probeRead, error) {
	if err := t.raw.Read(t.read); err != nil {
		return probeRead{}, err
	}
	if t.errno != 0 {
		return probeRead{}, os.NewSyscallError("read", t.errno)
	}
	k := probeRead{ready: t.first + t.gone*t.period, seen: Now()}
	t.gone += int64(binary.NativeEndian.Uint64(t.buf[:]))
	k.seen = max(k.seen, k.ready)
	return k, nil
}

func (t *gridTimer) close() { t.file.Close() }
