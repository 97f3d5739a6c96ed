package extsort

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"aiperf/internal/base/boundedfile"
)

// TestTable compares sums with those of a map, in key order, in memory and in the file.
func TestTable(t *testing.T) {
	most, head := MaxMemory, boundedfile.HeadInMemory
	defer func() { MaxMemory, boundedfile.HeadInMemory = most, head }()
	boundedfile.HeadInMemory = 50
	for _, MaxMemory = range []int{1, 2, 7, 100, 1 << 17} {
		draws := rand.New(rand.NewPCG(uint64(MaxMemory), 1))
		table := Table{Name: "test", Add: func(a, b uint64) uint64 { return a + b }}
		for range 2 { // Each empties the table
			want, got, last := map[Key]uint64{}, map[Key]uint64{}, Key{}
			for range 500 {
				k, v := Key{draws.Uint64N(9), draws.Uint64N(9)}, draws.Uint64N(100)
				want[k] += v
				if err := table.Put(k, v); err != nil {
					t.Fatal(err)
				}
			}
			err := table.Each(func(k Key, v uint64) error {
				if len(got) > 0 && last.Compare(k) >= 0 {
					t.Errorf("%v comes behind %v", k, last)
				}
				got[k], last = v, k
				return nil
			})
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%d keys in memory: %v, want %v, error %v", MaxMemory, got, want, err)
			}
		}
	}
}

// TestNoRoom checks that an unwritable temporary file is an error.
func TestNoRoom(t *testing.T) {
	most, head := MaxMemory, boundedfile.HeadInMemory
	defer func() { MaxMemory, boundedfile.HeadInMemory = most, head }()
	MaxMemory, boundedfile.HeadInMemory = 1, 0
	t.Setenv("TMPDIR", "/nowhere/at/all")
	table := Table{Name: "trace.jsonl", Add: func(a, _ uint64) uint64 { return a }}
	if err := table.Put(Key{1}, 1); err == nil || !strings.Contains(err.Error(), "the content of trace.jsonl is kept in a temporary file") {
		t.Errorf("%v", err)
	}
	stop := errors.New("stop")
	MaxMemory = 9
	for i := range uint64(3) {
		if err := table.Put(Key{i}, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Each(func(Key, uint64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
