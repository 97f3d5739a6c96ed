//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

// budget limits the CPU time that a waiter spends on spinning to a share of one core. Unused time accrues up to maxBudget.
type budget struct {
	percent   int64 // share of the elapsed time
	available int64 // available CPU time, ns
	at        int64 // instant of the last accrual
}

// maxBudget is the maximum accrued CPU time, ns.
const maxBudget = 10_000_000

// newBudget allows a tenth of a core on a single-core machine, half a core on two cores, and four fifths of a core on larger machines.
func newBudget(cores int, now int64) budget {
	percent := []int64{10, 50, 80}[min(max(cores, 1), 3)-1]
	return budget{percent: percent, available: maxBudget, at: now}
}

// grant returns how much of the wanted time is available now, both in ns.
func (b *budget) grant(wish, now int64) int64 {
	b.available = min(maxBudget, b.available+max(0, now-b.at)*b.percent/100)
	b.at = now
	return max(0, min(wish, b.available))
}

// spend subtracts used time, ns. The balance may become negative.
func (b *budget) spend(ns int64) { b.available -= ns }
