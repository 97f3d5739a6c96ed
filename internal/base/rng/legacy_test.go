package rng

import (
	"slices"
	"testing"
)

// TestGeneratorsOfTheRootSeed: numpy 2.4 gives these numbers for default_rng(seed).integers and RandomState(seed).randint.
func TestGeneratorsOfTheRootSeed(t *testing.T) {
	draws := func(f func(low, high int) int, low, high, n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = f(low, high)
		}
		return list
	}
	for _, c := range []struct {
		seed          string
		first, second []int
		float         float64
	}{
		{"42", []int{89, 773, 654, 438, 433, 858}, []int{4319, 35047, 10125}, 0.9756223516367559},
		{"18446744073709551616", []int{889, 449, 25, 391, 767, 576}, []int{30526, 14549, 47729}, 0.18360407025199788},
		{"99999999999999999999", []int{664, 347, 607, 224, 99, 399}, []int{17913, 46180, 34536}, 0.17789976882150793},
		{"1606938044258990275541962092341162602522202993782792835313721", []int{431, 464, 79, 548, 977, 584}, []int{29672, 7823, 41281}, 0.7452184636904784},
	} {
		n := NewDecimal(c.seed).Numpy()
		first, second := draws(n.Integers, 0, 1000, 6), draws(n.Integers, 0, 50257, 3)
		if copied := n.Clone(); !slices.Equal(first, c.first) || !slices.Equal(second, c.second) || copied.Float64() != c.float || n.Float64() != c.float {
			t.Errorf("seed %s: %v %v", c.seed, first, second)
		}
	}
	for _, c := range []struct {
		seed                 string
		first, second, third []int
	}{
		{"42", []int{102, 435, 860, 270, 106, 71}, []int{130, 90, 108}, []int{520361034194, 919372468554}},
		{"0", []int{684, 559, 629, 192, 835, 763}, []int{73, 109, 79}, []int{909012193557, 1041261508388}},
		{"99999999999999999999", []int{84, 219, 249, 107, 179, 978}, []int{85, 129, 84}, []int{467320089415, 479615117990}}, // as 147366354
	} {
		l := NewDecimal(c.seed).Legacy()
		first, second, one := draws(l.Integers, 0, 1000, 6), draws(l.Integers, 70, 131, 3), draws(l.Integers, 5, 6, 2)
		copied := l.Clone()
		third, again := draws(l.Integers, 0, 1<<40, 2), draws(copied.Integers, 0, 1<<40, 2)
		if !slices.Equal(first, c.first) || !slices.Equal(second, c.second) || !slices.Equal(one, []int{5, 5}) || !slices.Equal(third, c.third) || !slices.Equal(again, third) {
			t.Errorf("seed %s: %v %v %v %v", c.seed, first, second, one, third)
		}
	}
}
