//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

import "testing"

func TestBudgetIsAShareOfTheTime(t *testing.T) {
	for cores, percent := range map[int]int64{1: 10, 2: 50, 3: 80, 64: 80} {
		const step = 1_000_000
		b := newBudget(cores, 0)
		b.spend(b.grant(1<<60, 0)) // the first stock
		spent, steps := int64(0), int64(1000)
		for now := int64(step); now <= steps*step; now += step {
			ns := b.grant(step, now)
			b.spend(ns)
			spent += ns
		}
		if want := steps * step * percent / 100; spent != want {
			t.Errorf("%d cores: %d ns of %d were spent, %d are allowed", cores, spent, steps*step, want)
		}
	}
}

func TestBudgetStockIsBounded(t *testing.T) {
	b := newBudget(2, 0)
	if got := b.grant(1<<60, 1<<50); got != maxBudget {
		t.Errorf("after a long rest %d ns are granted, not %d", got, maxBudget)
	}
	b.spend(maxBudget + 500) // a late look at the clock
	if got := b.grant(1000, 1<<50); got != 0 {
		t.Errorf("%d ns are granted on credit", got)
	}
	if got := b.grant(1<<60, 1<<50+3000); got != 1000 {
		t.Errorf("%d ns are granted; half of 3000, less the 500 owed, are 1000", got)
	}
}
