package main

import (
	"fmt"
	"time"

	"aiperf/internal/clock"
)

// bareThread is how late this machine lets a thread be that does nothing but wait for absolute instants: asleep, and with the spin and the
// priority of the scheduler's own waiter. No client on it can do better.
func (b *bench) bareThread(rate, seconds int) {
	b.waitWith(clock.NewThriftyWaiter(), rate, seconds, "asleep")
	b.waitWith(clock.NewWaiter(), rate, seconds, "asleep and spinning")
}

func (b *bench) waitWith(w clock.Waiter, rate, seconds int, how string) {
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
	b.row(fmt.Sprintf("%d/s, a bare thread %s", rate, how), "constant", p50, p99, largest, "", "", "", "", "the baseline")
}
