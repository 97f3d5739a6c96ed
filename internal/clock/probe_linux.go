//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// probe becomes readable at instants of a fixed grid, whatever the process does meanwhile, and is read the way connections are: through the
// runtime's poller, by a goroutine like theirs. How late it is read is how late they are.
type probe struct {
	file  *os.File // a timer of the kernel
	first int64    // instant at which it is readable for the first time
	gone  int64    // periods that were read
}

func newProbe() (*probe, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	p := &probe{file: os.NewFile(uintptr(fd), "timerfd"), first: Now() + int64(probePeriod)}
	spec := unix.ItimerSpec{Interval: unix.NsecToTimespec(int64(probePeriod)), Value: unix.NsecToTimespec(p.first + monotonicOffset())}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		p.file.Close()
		return nil, os.NewSyscallError("timerfd_settime", err)
	}
	return p, nil
}

// wait blocks until the probe is readable and reads it; an error says that it was closed.
func (p *probe) wait() (look, error) {
	var buf [8]byte
	if _, err := p.file.Read(buf[:]); err != nil {
		return look{}, err
	}
	k := look{ready: p.first + p.gone*int64(probePeriod), seen: Now()}
	p.gone += int64(binary.NativeEndian.Uint64(buf[:]))
	k.seen = max(k.seen, k.ready)
	return k, nil
}

func (p *probe) close() { p.file.Close() }
