//go:build linux && (amd64 || arm64 || ppc64le || s390x || riscv64 || loong64)

package clock

// budget bounds the processor time that a waiter spends on spinning: a share of one core, which accrues with time.
type budget struct {
	percent int64 // of the time that passes
	have    int64 // ns
	at      int64 // instant up to which it was accrued
}

// mostBudget is the largest stock, ns.
const mostBudget = 10_000_000

// newBudget is a tenth of a single core, half a core of two, four fifths of one where there are more.
func newBudget(cores int, now int64) budget {
	percent := []int64{10, 50, 80}[min(max(cores, 1), 3)-1]
	return budget{percent: percent, have: mostBudget, at: now}
}

// grant tells how much of a wish, ns, is there now.
func (b *budget) grant(wish, now int64) int64 {
	b.have = min(mostBudget, b.have+max(0, now-b.at)*b.percent/100)
	b.at = now
	return max(0, min(wish, b.have))
}

// spend takes ns that were used; more than was granted is owed.
func (b *budget) spend(ns int64) { b.have -= ns }
