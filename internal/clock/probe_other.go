//go:build !linux || !(amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import (
	"os"
	"time"
)

// probe looks at instants of a fixed grid with the runtime's timers, which run on the threads that also poll connections.
type probe struct {
	next int64
	stop chan struct{}
}

func newProbe() (*probe, error) {
	return &probe{next: Now() + int64(probePeriod), stop: make(chan struct{})}, nil
}

// wait blocks until the next instant; an error says that the probe was closed.
func (p *probe) wait() (look, error) {
	timer := time.NewTimer(time.Duration(p.next - Now()))
	defer timer.Stop()
	select {
	case <-p.stop:
		return look{}, os.ErrClosed
	case <-timer.C:
	}
	k := look{ready: p.next, seen: Now()}
	k.seen = max(k.seen, k.ready)
	p.next += max(1, (k.seen-p.next)/int64(probePeriod)+1) * int64(probePeriod)
	return k, nil
}

func (p *probe) close() { close(p.stop) }
