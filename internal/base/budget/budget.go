// Package budget limits the work that foreign input may cause: a template, a pattern or a text. The code that does the work reports its steps and
// bytes, and stops at the first error.
package budget

import (
	"fmt"
	"math"
	"time"
)

// Limits sets what a piece of work may cost. 0 and nil mean no limit.
type Limits struct {
	Steps int64         // operations
	Bytes int64         // bytes allocated, including those no longer in use
	Time  time.Duration // wall time: the last resort, because steps are the same on every machine
	Stop  func() bool   // returns true to stop the work early, for example after an interrupt
	Free  int64         // steps before Stop has an effect: small work is always finished
}

// Budget tracks the remaining work within some limits. A nil Budget has no limits. Only one goroutine may use it.
type Budget struct {
	steps  int64 // counted so far
	next   int64 // number of steps at which check runs again
	bytes  int64 // counted so far
	limits Limits
	began  time.Time
	err    error
}

// stepsPerCheck is the number of steps between two checks of the clock.
const stepsPerCheck = 64

// New returns a budget with the limits. Its time starts now.
func New(l Limits) *Budget {
	b := new(Budget)
	b.Reset(l)
	return b
}

// Reset restarts a budget with new limits.
func (b *Budget) Reset(l Limits) {
	*b = Budget{limits: l}
	if l.Steps <= 0 {
		b.limits.Steps = math.MaxInt64
	}
	if l.Bytes <= 0 {
		b.limits.Bytes = math.MaxInt64
	}
	if l.Time > 0 {
		b.began = time.Now()
	}
	b.next = min(stepsPerCheck, b.limits.Steps)
}

// Step counts n operations. An error is final: every later call returns it.
func (b *Budget) Step(n int64) error {
	if b == nil {
		return nil
	}
	if b.steps += n; b.steps < b.next {
		return nil
	}
	return b.check()
}

// CountBytes counts n bytes that were or will be allocated.
func (b *Budget) CountBytes(n int64) error {
	if b == nil {
		return nil
	}
	if b.bytes += n; b.bytes > b.limits.Bytes {
		b.fail(fmt.Errorf("builds more than %s", size(b.limits.Bytes)))
	}
	return b.err
}

// Err returns the error that ended the work, or nil while the limits allow more.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	return b.err
}

// check tests all limits except that of bytes.
func (b *Budget) check() error {
	b.next = min(b.steps+stepsPerCheck, b.limits.Steps)
	switch l := &b.limits; {
	case b.err != nil:
	case b.steps >= l.Steps:
		b.fail(fmt.Errorf("needs more than %d steps", l.Steps))
	case l.Stop != nil && b.steps > l.Free && l.Stop():
		b.fail(errStopped)
	case l.Time > 0 && time.Since(b.began) > l.Time:
		b.fail(fmt.Errorf("takes longer than %v", l.Time))
	}
	return b.err
}

var errStopped = fmt.Errorf("was interrupted")

// fail stops the work with an error.
func (b *Budget) fail(err error) {
	if b.err == nil {
		b.err = err
	}
	b.next = math.MinInt64
}

// size formats a number of bytes for a message.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
