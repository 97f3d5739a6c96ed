package kubeclient

import (
	"context"
	"sync"
	"time"
)

// Limits of requests for objects: how many are sent in a second, and how many at once after a pause.
const (
	requestRate  = 50
	requestBurst = 100
)

// throttle limits the rate of requests.
type throttle struct {
	mu   sync.Mutex
	next time.Time // when the request is due whose turn is next, if none is ever late
}

// reserve returns how long a request has to wait at a time.
func (t *throttle) reserve(now time.Time) time.Duration {
	const each = time.Second / requestRate
	t.mu.Lock()
	defer t.mu.Unlock()
	if full := now.Add(-requestBurst * each); t.next.Before(full) {
		t.next = full
	}
	t.next = t.next.Add(each)
	return t.next.Sub(now)
}

// wait waits for the turn of a request.
func (t *throttle) wait(ctx context.Context) error { return sleep(ctx, t.reserve(time.Now())) }

// sleep waits for a time, or until a context ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
