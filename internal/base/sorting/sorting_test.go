package sorting

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type pair struct {
	key   int
	other string
}

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// TestSameAsStandardLibrary: any list is sorted as the standard library sorts it, equal elements included.
func TestSameAsStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]int{1, 3, 50, 1 << 30}).Draw(t, "keys")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair {
			return pair{rapid.IntRange(0, keys).Draw(t, "key"), rapid.StringN(0, 3, 9).Draw(t, "other")}
		}), 0, 300).Draw(t, "list")
		for name, sorts := range map[string][2]func([]pair, func(a, b pair) int){
			"Sort": {Sort[pair], slices.SortFunc[[]pair]}, "Stable": {Stable[pair], slices.SortStableFunc[[]pair]},
		} {
			got, want := slices.Clone(list), slices.Clone(list)
			sorts[0](got, byKey)
			sorts[1](want, byKey)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

// BenchmarkSort compares with the standard library on 100,000 pairs with few keys.
func BenchmarkSort(b *testing.B) {
	list := make([]pair, 100_000)
	for i := range list {
		list[i].key = i * 7919 % 1009
	}
	for name, sort := range map[string]func([]pair, func(a, b pair) int){
		"Sort": Sort[pair], "slices.SortFunc": slices.SortFunc[[]pair], "Stable": Stable[pair], "slices.SortStableFunc": slices.SortStableFunc[[]pair],
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(list), byKey)
			}
		})
	}
}
