package stats

import (
	"iter"
	"math"
	"slices"
)

// FewValues is the number of values up to which DescribeSeq holds them in memory: 8 MB.
const FewValues = 1 << 20

// DescribeSeq describes values like Describe, of which most is an upper limit. It sorts up to a million of them. More than these it does not hold in
// memory: it reads them six times. Every figure is exact.
func DescribeSeq(values iter.Seq[float64], most int) Distribution {
	if most <= FewValues {
		return Describe(slices.AppendSeq(make([]float64, 0, most), values))
	}
	return describeMany(values)
}

func describeMany(values iter.Seq[float64]) Distribution {
	d := Distribution{Min: math.Inf(1), Max: math.Inf(-1)}
	var sum Sum
	for v := range values {
		d.Count++
		sum.Add(v)
		d.Min, d.Max = min(d.Min, v), max(d.Max, v)
	}
	if d.Count == 0 {
		return Describe(nil)
	}
	d.Sum = sum.Value()
	d.Avg = d.Sum / float64(d.Count)
	if d.Min == d.Max {
		d.Avg = d.Min // equal values have no spread, whatever the rounding error of their sum
	} else {
		d.Std = stdOfMany(values, d.Avg, d.Count)
	}
	at := valuesAt(values, ranks(d.Count))
	for i, level := range Levels {
		d.P[i] = interpolate(level, d.Count, func(rank int) float64 { return at[rank] })
	}
	return d
}

// stdOfMany returns the standard deviation of n values with a mean, with divisor n.
func stdOfMany(values iter.Seq[float64], mean float64, n int) float64 {
	var squares Sum
	for v := range values {
		squares.Add((v - mean) * (v - mean))
	}
	return math.Sqrt(squares.Value() / float64(n))
}

// ranks returns the ranks of the values that the percentiles of n values need, ascending.
func ranks(n int) (list []int) {
	for _, level := range Levels {
		interpolate(level, n, func(rank int) float64 { list = append(list, rank); return 0 })
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// digit is the number of bits of a value that a reading distinguishes.
const digit = 16

// rankGroup is the values with the same first bits, if some of them have wanted ranks.
type rankGroup struct {
	first  int   // rank of the smallest value
	ranks  []int // wanted
	counts [1 << digit]int32
}

// valuesAt returns the values with some ranks (from 0), given in ascending order. It reads all values four times: each reading counts those that may have
// a wanted rank by their next 16 bits.
func valuesAt(values iter.Seq[float64], wanted []int) map[int]float64 {
	groups := map[uint64]*rankGroup{0: {ranks: wanted}} // by the first bits
	for left := 64 - digit; ; left -= digit {           // bits behind the digit
		var last *rankGroup // most values are in few groups
		key := uint64(math.MaxUint64)
		for v := range values {
			bits := ordered(v) >> left
			if first := bits >> digit; first != key {
				last, key = groups[first], first
			}
			if last != nil {
				last.counts[bits&(1<<digit-1)]++
			}
		}
		next := map[uint64]*rankGroup{}
		for first, g := range groups {
			g.divide(first<<digit, next)
		}
		if groups = next; left == 0 {
			break
		}
	}
	found := map[int]float64{}
	for bits, g := range groups {
		for _, rank := range g.ranks {
			found[rank] = fromOrdered(bits)
		}
	}
	return found
}

// divide adds the groups of the next digit with wanted ranks.
func (g *rankGroup) divide(first uint64, next map[uint64]*rankGroup) {
	rank, wanted := g.first, g.ranks
	for i, n := range g.counts[:] {
		k := 0
		for k < len(wanted) && wanted[k] < rank+int(n) {
			k++
		}
		if k > 0 {
			next[first|uint64(i)] = &rankGroup{first: rank, ranks: wanted[:k]}
		}
		rank, wanted = rank+int(n), wanted[k:]
	}
}
