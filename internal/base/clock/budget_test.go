//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import "testing"

func TestBudgetIsAShareOfTheTime(t *testing.T) {
	const step, steps = 1_000_000, 1000
	b := newBudget(0)
	b.spend(b.grant(1<<60, 0)) // the first stock
	spent := int64(0)
	for now := int64(step); now <= steps*step; now += step {
		ns := b.grant(step, now)
		b.spend(ns)
		spent += ns
	}
	if spent != steps*step/10 {
		t.Errorf("%d ns of %d were spent, a tenth is allowed", spent, int64(steps*step))
	}
}

func TestBudgetStockIsBounded(t *testing.T) {
	b := newBudget(0)
	if got := b.grant(1<<60, 1<<50); got != maxBudget {
		t.Errorf("after a long rest %d ns are granted, not %d", got, maxBudget)
	}
	b.spend(maxBudget + 500) // a late look at the clock
	if got := b.grant(1000, 1<<50); got != 0 {
		t.Errorf("%d ns are granted on credit", got)
	}
	if got := b.grant(1<<60, 1<<50+15000); got != 1000 {
		t.Errorf("%d ns are granted; a tenth of 15,000, less the 500 owed, are 1000", got)
	}
}
