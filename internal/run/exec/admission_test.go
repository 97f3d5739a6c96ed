package exec

import (
	"sync"
	"testing"

	"aiperf/internal/measure/record"
)

// TestGate: after the gate is shut no record gets through, and each that comes late is released.
func TestGate(t *testing.T) {
	var through, released int
	var mu sync.Mutex
	g := recordGate{into: func(*record.Record) { mu.Lock(); defer mu.Unlock(); through++ }}
	come := func() {
		rec := new(record.Record)
		rec.OnRelease(func() { mu.Lock(); defer mu.Unlock(); released++ })
		g.put(rec)
	}
	for range 3 {
		come()
	}
	g.shut()
	var late sync.WaitGroup
	for range 2 {
		late.Go(come)
	}
	late.Wait()
	if through != 3 || released != 2 {
		t.Errorf("%d got through and %d were released, want 3 and 2", through, released)
	}
}
