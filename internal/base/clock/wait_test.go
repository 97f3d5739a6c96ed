package clock

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimerWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { contract(t, NewTimerWaiter(), 0) })
}

func TestPlatformWaiter(t *testing.T) { contract(t, NewWaiter(), time.Minute) }

// contract checks a waiter; late is how late it may be, 0 = exact.
func contract(t *testing.T, w Waiter, late time.Duration) {
	t.Helper()
	w.Attach()
	defer w.Detach()
	begin := Now()
	for i := range 5 {
		at := begin + int64(i+1)*int64(2*time.Millisecond)
		if !w.Until(at) {
			t.Fatal("woken by nobody")
		}
		if now := Now(); now < at || now > at+int64(late) {
			t.Errorf("deadline %d: off by %v", i, time.Duration(now-at))
		}
	}
	if !w.Until(begin) {
		t.Error("a past instant is not reached")
	}
	w.Wake() // nobody sleeps: the next wait ends
	if w.Until(Now() + int64(time.Minute)) {
		t.Error("the wake was lost")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(5 * time.Millisecond)
		w.Wake()
	})
	if w.Until(Now() + int64(time.Minute)) {
		t.Error("a sleeper was not woken")
	}
	wg.Wait()
}

func TestWakeIsNeverLost(t *testing.T) {
	for _, w := range []Waiter{NewWaiter(), NewTimerWaiter()} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		work, seen := 0, 0
		const all = 20000
		wg.Go(func() {
			for range all {
				mu.Lock()
				work++
				mu.Unlock()
				w.Wake()
			}
		})
		w.Attach()
		deadline := Now() + int64(20*time.Second)
		for seen < all && Now() < deadline {
			mu.Lock()
			seen = work
			mu.Unlock()
			if seen < all && w.Until(deadline) {
				t.Errorf("%T: slept with work waiting: %d of %d", w, seen, all)
			}
		}
		w.Detach()
		wg.Wait()
	}
}

// BenchmarkWaiter reports how late a thousand deadlines per second are met.
func BenchmarkWaiter(b *testing.B) {
	for name, w := range map[string]Waiter{"platform": NewWaiter(), "runtime": NewTimerWaiter()} {
		b.Run(name, func(b *testing.B) {
			w.Attach()
			defer w.Detach()
			at := Now()
			var sum, worst int64
			for b.Loop() {
				at += int64(time.Millisecond)
				w.Until(at)
				late := Now() - at
				sum += late
				worst = max(worst, late)
			}
			b.ReportMetric(float64(sum)/float64(b.N)/1e3, "µs-late")
			b.ReportMetric(float64(worst)/1e3, "µs-worst")
		})
	}
}
