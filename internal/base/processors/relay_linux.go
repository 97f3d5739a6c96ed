package processors

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Relay runs functions in its own goroutine, for a thread that occupies a processor without using it. What such a thread makes runnable stays in
// the queue of that processor until another thread runs out of work and takes it away, which it does with sleeps of 3 µs. The goroutine of the relay
// waits in the poller, so the thread that polls gets it at once.
type Relay struct {
	file *os.File // event counter
	raw  syscall.RawConn
	over chan struct{} // closed when the goroutine ends

	mu   sync.Mutex
	list []func()
}

// NewRelay starts a relay; nil = the system has no room for one.
func NewRelay() *Relay {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil
	}
	r := &Relay{file: os.NewFile(uintptr(fd), "eventfd"), over: make(chan struct{})}
	if r.raw, err = r.file.SyscallConn(); err != nil {
		_ = r.file.Close()
		return nil
	}
	go r.run()
	return r
}

// Do makes the relay call f, after those that it was given before. It does not wait. Without a relay it calls f.
func (r *Relay) Do(f func()) {
	if r == nil {
		f()
		return
	}
	r.mu.Lock()
	r.list = append(r.list, f)
	r.mu.Unlock()
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_ = r.raw.Control(func(fd uintptr) { // the counter never overflows
		_, _, _ = unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&one)), uintptr(len(one)))
	})
}

// Close ends the relay when everything was called that it was given before.
func (r *Relay) Close() {
	if r == nil {
		return
	}
	r.Do(nil)
	<-r.over
	_ = r.file.Close()
}

func (r *Relay) run() {
	defer close(r.over)
	var count [8]byte
	for {
		_ = r.raw.Read(func(fd uintptr) bool {
			_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&count)), uintptr(len(count)))
			return errno != unix.EAGAIN
		})
		r.mu.Lock()
		list := r.list
		r.list = nil
		r.mu.Unlock()
		for _, f := range list {
			if f == nil {
				return
			}
			f()
		}
	}
}
