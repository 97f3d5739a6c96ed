package main

import (
	"fmt"
	"time"

	"aiperf/internal/clock"
)

// bareThread is how late this machine lets a thread be that does nothing but sleep to absolute instants: what no client on it can beat
// except by spinning and by priority.
func (b *bench) bareThread(rate, seconds int) {
	w := clock.NewThriftyWaiter()
	w.Attach()
	defer w.Detach()
	var lags sample
	begin := clock.Now() + int64(10*time.Millisecond)
	for i := range rate * seconds {
		at := begin + int64(i)*int64(time.Second)/int64(rate)
		for !w.Until(at) {
		}
		lags.add(clock.Now() - at)
	}
	p50, p99, largest := lags.spread()
	b.row(fmt.Sprintf("%d/s, a bare thread", rate), "constant", p50, p99, largest, "", "", "", "", "the baseline")
}
