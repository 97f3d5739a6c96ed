package rng

import (
	"slices"
	"testing"
)

func TestChildSeeds(t *testing.T) {
	tests := []struct {
		root       uint64
		identifier string
		want       uint64
	}{
		{42, "dataset.prompt.length", 7521479737366565015},
		{42, "dataset.prompt.corpus", 10558974911300946294},
		{42, "dataset.prompt.prefix", 11224809942358323992},
		{42, "dataset.image.dimensions", 13027462902246711675},
		{42, "dataset.image.noise", 8339179516877524723},
		{42, "dataset.loader.random_pool", 11290283197196048603},
		{42, "dataset.sampler.random", 2008847916738778864},
		{42, "composer.conversation.turn_count", 3208415338701231633},
		{42, "composer.turn.model_selection", 2657192131700836383},
		{0, "dataset.prompt.corpus", 5252555442704823983},
		{7, "dataset.prompt.corpus", 8034601933877407000},
		{10558974911300946294, ":0", 11442583857767186279},
		{10558974911300946294, ":1", 7064896877866404733},
		{10558974911300946294, "t1:7", 13408230626617923608},
	}
	for _, test := range tests {
		if got := ChildSeed(test.root, test.identifier); got != test.want {
			t.Errorf("ChildSeed(%d, %q) = %d, want %d", test.root, test.identifier, got, test.want)
		}
		if got := New(&test.root).Stream(test.identifier).Seed(); got != test.want {
			t.Errorf("stream %q of root %d has seed %d, want %d", test.identifier, test.root, got, test.want)
		}
	}
}

// TestBigRoots: a root beyond 64 bits enters as its digits. The wanted values are CPython's: int.from_bytes(sha256(text).digest()[:8], "big").
func TestBigRoots(t *testing.T) {
	for digits, want := range map[string]uint64{
		"18446744073709551615": 15087594977180901356,
		"18446744073709551616": 871978923364472614,
		"99999999999999999999": 918431826713579787,
	} {
		if got := NewDecimal(digits).Child("dataset.prompt.corpus"); got != want {
			t.Errorf("root %s: %d, want %d", digits, got, want)
		}
	}
}

func TestVariation(t *testing.T) {
	seed := uint64(42)
	if got := New(&seed).Variation("concurrency=8").Seed(); got != "1916920559497348049" {
		t.Errorf("got %s", got)
	}
}

func TestRootWithoutSeed(t *testing.T) {
	a, b := New(nil), New(nil)
	if a.Seeded() || b.Seeded() {
		t.Error("a drawn seed counts as the user's")
	}
	if a.Seed() == b.Seed() {
		t.Error("two drawn seeds are equal")
	}
	seed := uint64(3)
	if r := New(&seed); !r.Seeded() || r.Seed() != "3" {
		t.Errorf("got %+v", r)
	}
}

// The draws that the Python tool's own class made from root seed 42.
func TestPositiveInt(t *testing.T) {
	seed := uint64(42)
	s := New(&seed).Stream("dataset.prompt.length")
	var got []int
	for range 8 {
		got = append(got, s.PositiveInt(200, 50))
	}
	if want := []int{251, 208, 197, 286, 97, 142, 167, 240}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPositiveIntEdges(t *testing.T) {
	tests := []struct {
		mean, deviation float64
		want            int
	}{
		{550, 0, 550}, {2.5, 0, 2}, {3.5, 0, 4}, {0, 0, 1}, {0.2, -1, 1}, {-1e9, 1, 1},
	}
	for _, test := range tests {
		if got := NewStream(1).PositiveInt(test.mean, test.deviation); got != test.want {
			t.Errorf("PositiveInt(%g, %g) = %d, want %d", test.mean, test.deviation, got, test.want)
		}
	}
}

func TestPrefixChoices(t *testing.T) {
	seed := uint64(42)
	s := New(&seed).Stream("dataset.prompt.prefix")
	var got []int
	for range 20 {
		got = append(got, s.Below(3))
	}
	if want := []int{2, 2, 1, 1, 0, 1, 1, 2, 1, 0, 1, 2, 1, 2, 0, 2, 1, 0, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkFloat64(b *testing.B) {
	s := NewStream(1)
	for b.Loop() {
		s.Float64()
	}
}

func BenchmarkNewStream(b *testing.B) {
	for b.Loop() {
		NewStream(uint64(b.N) + 1<<40)
	}
}
