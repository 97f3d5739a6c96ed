// Package budget bounds the work that foreign input may cause: a template, a pattern or a text. Whoever works on it pays for steps and for
// bytes, and stops at the first error.
package budget

import (
	"fmt"
	"math"
	"time"
)

// Limits are what a piece of work may cost. 0 and nil mean no limit.
type Limits struct {
	Steps int64         // operations
	Bytes int64         // bytes that are built, whether they are still used or not
	Time  time.Duration // by the clock: the last resort, since steps are the same on every machine
	Stop  func() bool   // ends the work early, as an interrupt does
	Free  int64         // steps that Stop does not end: small work is finished
}

// Budget is what is left of some limits. A nil Budget has no limits. It belongs to one goroutine.
type Budget struct {
	steps  int64 // paid so far
	next   int64 // steps at which check looks again
	bytes  int64 // paid so far
	limits Limits
	began  time.Time
	err    error
}

// between is how many steps lie between two looks at the clock.
const between = 64

// New returns a budget of the limits. Its time begins now.
func New(l Limits) *Budget {
	b := new(Budget)
	b.Reset(l)
	return b
}

// Reset makes a budget new.
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
	b.next = min(between, b.limits.Steps)
}

// Step pays for n operations. An error is final: every later call returns it.
func (b *Budget) Step(n int64) error {
	if b == nil {
		return nil
	}
	if b.steps += n; b.steps < b.next {
		return nil
	}
	return b.check()
}

// Hold pays for n bytes that were built or are to be built.
func (b *Budget) Hold(n int64) error {
	if b == nil {
		return nil
	}
	if b.bytes += n; b.bytes > b.limits.Bytes {
		b.fail(fmt.Errorf("builds more than %s", size(b.limits.Bytes)))
	}
	return b.err
}

// Err is the error that ended the work; nil = there is something left.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	return b.err
}

// check looks at all limits but that of bytes.
func (b *Budget) check() error {
	b.next = min(b.steps+between, b.limits.Steps)
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

// fail ends the work.
func (b *Budget) fail(err error) {
	if b.err == nil {
		b.err = err
	}
	b.next = math.MinInt64
}

// size is a number of bytes in words.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
