//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

// budget limits the CPU time that a waiter spends on spinning to a share of one core. Unused time accrues up to maxBudget.
type budget struct {
	available int64 // CPU time, ns
	at        int64 // instant of the last accrual
}

const (
	maxBudget     = 10_000_000 // maximum accrued CPU time, ns
	budgetPercent = 10         // share of one core
)

// newBudget returns the budget of a waiter that begins now.
func newBudget(now int64) budget { return budget{available: maxBudget, at: now} }

// grant returns how much of the wanted time is available now, both in ns.
func (b *budget) grant(wish, now int64) int64 {
	b.available = min(maxBudget, b.available+max(0, now-b.at)*budgetPercent/100)
	b.at = now
	return max(0, min(wish, b.available))
}

// spend subtracts used time, ns. The balance may become negative.
func (b *budget) spend(ns int64) { b.available -= ns }
