package trace

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/dataset/extsort"
)

// plainSharing counts by definition, with all prefixes in memory.
func plainSharing(list [][]int64) (s Sharing, rates []float64) {
	visits, seen := map[string]int{}, map[int64]bool{}
	rows, sum, all, again := 0, 0.0, 0, 0
	for _, ids := range list {
		if len(ids) == 0 {
			continue
		}
		known := slices.IndexFunc(ids, func(id int64) bool { return !seen[id] })
		if known < 0 {
			known = len(ids)
		}
		for i, id := range ids {
			seen[id] = true
			visits[fmt.Sprint(ids[:i+1])]++
		}
		rows++
		rates = append(rates, float64(known)/float64(len(ids)))
		sum += rates[len(rates)-1]
	}
	for sequence, n := range visits {
		if all += n; n > 1 {
			again += n
			if !slices.Contains([]byte(sequence), ' ') {
				s.Groups++
			}
		}
	}
	if s.Unique = len(visits); rows > 0 {
		s.Reuse, s.HitRate = float64(again)/float64(all), sum/float64(rows)
	}
	return s, rates
}

// onDisk makes all but a few keys and bytes go to temporary files.
func onDisk(t *testing.T, keys int) {
	most, head := extsort.MaxMemory, boundedfile.HeadInMemory
	t.Cleanup(func() { extsort.MaxMemory, boundedfile.HeadInMemory = most, head })
	extsort.MaxMemory, boundedfile.HeadInMemory = keys, 100
}

// TestTree compares with the definitions, for any rows and with little memory.
func TestTree(t *testing.T) {
	for seed := range uint64(60) {
		draws := rand.New(rand.NewPCG(seed, 2))
		if seed >= 20 {
			onDisk(t, 1+draws.IntN(40))
		}
		var list [][]int64
		var last []int64
		for range draws.IntN(60) {
			ids := slices.Clone(last[:draws.IntN(len(last)+1)])
			for range draws.IntN(8) {
				ids = append(ids, draws.Int64N(50)-5)
			}
			if last = ids; draws.IntN(9) == 0 {
				last = nil
			}
			list = append(list, ids)
		}
		tree := NewTree("rows")
		for _, ids := range list {
			if err := tree.Add(ids); err != nil {
				t.Fatal(err)
			}
		}
		want, wantRates := plainSharing(list)
		if tree.Rows() != len(wantRates) {
			t.Errorf("seed %d: %d rows, want %d", seed, tree.Rows(), len(wantRates))
		}
		var rates []float64
		got, err := tree.Sharing(func(r float64) { rates = append(rates, r) })
		if err != nil || got != want || !slices.Equal(rates, wantRates) {
			t.Errorf("seed %d: %+v, rates %v, error %v; want %+v, rates %v", seed, got, rates, err, want, wantRates)
		}
	}
}

// TestTreeMemory checks that four times as many different ids take no more memory.
func TestTreeMemory(t *testing.T) {
	onDisk(t, 1<<10)
	held := func(rows int) uint64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tree := NewTree("rows")
		for row := range rows {
			ids := make([]int64, 10)
			for i := range ids {
				ids[i] = int64(row*10 + i)
			}
			if err := tree.Add(ids); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		got, err := tree.Sharing(nil)
		if err != nil || got.Unique != 10*rows {
			t.Errorf("%d rows: %+v, %v", rows, got, err)
		}
		return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
	}
	few, many := held(5_000), held(20_000)
	if many > 2*few+100_000 {
		t.Errorf("%d bytes for 5,000 rows and %d for 20,000", few, many)
	}
}
