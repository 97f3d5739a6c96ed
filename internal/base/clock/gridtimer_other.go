//go:build !linux || !(amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"os"
	"sync"
	"time"
)

// gridTimer wakes at instants of a fixed grid. It uses the runtime's timers, which run on the threads that also poll connections.
type gridTimer struct {
	period int64 // ns
	begun  chan struct{}
	stop   chan struct{}

	mu   sync.Mutex
	next int64 // 0 = stopped
}

// newGridTimer returns a stopped timer.
func newGridTimer(period time.Duration) (*gridTimer, error) {
	return &gridTimer{period: int64(period), begun: make(chan struct{}, 1), stop: make(chan struct{})}, nil
}

// start starts the timer. It must not be running.
func (t *gridTimer) start() {
	t.mu.Lock()
	t.next = Now() + t.period
	t.mu.Unlock()
	select {
	case t.begun <- struct{}{}:
	default:
	}
}

// pause stops the timer until the next start. Only the goroutine that waits for it may call this.
func (t *gridTimer) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = 0
}

func (t *gridTimer) due() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next
}

// wait blocks until the next instant. An error means that the timer was closed.
func (t *gridTimer) wait() (probeRead, error) {
	at := t.due()
	for ; at == 0; at = t.due() {
		select {
		case <-t.stop:
			return probeRead{}, os.ErrClosed
		case <-t.begun:
		}
	}
	timer := time.NewTimer(time.Duration(at - Now()))
	defer timer.Stop()
	select {
	case <-t.stop:
		return probeRead{}, os.ErrClosed
	case <-timer.C:
	}
	k := probeRead{ready: at, readAt: max(at, Now())}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = at + max(1, (k.readAt-at)/t.period+1)*t.period
	return k, nil
}

func (t *gridTimer) close() { close(t.stop) }
