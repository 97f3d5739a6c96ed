package budget

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// spend pays single steps until the budget is empty.
func spend(b *Budget) (steps int, err error) {
	for steps = 0; err == nil && steps < 1_000_000; steps++ {
		err = b.Step(1)
	}
	return steps, err
}

func TestLimits(t *testing.T) {
	if n, err := spend(New(Limits{Steps: 1000})); n != 1000 || err == nil || err.Error() != "needs more than 1000 steps" {
		t.Errorf("%d, %v", n, err)
	}
	b := New(Limits{Bytes: 2 << 20})
	if err := b.CountBytes(2 << 20); err != nil {
		t.Error(err)
	}
	if err := b.CountBytes(1); err == nil || err.Error() != "builds more than 2 MiB" || !errors.Is(b.Step(1), err) || !errors.Is(b.Err(), err) {
		t.Error(err)
	}
	calls := 0
	if n, err := spend(New(Limits{Stop: func() bool { calls++; return calls == 3 }})); n != 3*stepsPerCheck || !errors.Is(err, errStopped) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := spend(New(Limits{})); n != 1_000_000 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	var none *Budget
	if none.Step(1) != nil || none.CountBytes(1) != nil || none.Err() != nil {
		t.Error("a nil budget has limits")
	}
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Limits{Time: time.Second})
		if n, err := spend(b); n != 1_000_000 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		time.Sleep(2 * time.Second)
		if n, err := spend(b); n > stepsPerCheck || err == nil || err.Error() != "takes longer than 1s" {
			t.Errorf("%d, %v", n, err)
		}
	})
}
