package dataset

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
)

func root(seed uint64) *rng.Root { return rng.New(&seed) }

func TestSessionID(t *testing.T) {
	if got := SessionID(root(42), 17); got != "session_000017" {
		t.Errorf("got %q", got)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	r := rng.New(nil)
	seen := map[string]bool{}
	for i := range 1000 {
		id := SessionID(r, i)
		if !uuid.MatchString(id) || seen[id] {
			t.Fatalf("id %d is %q", i, id)
		}
		seen[id] = true
	}
	if seen[SessionID(rng.New(nil), 0)] {
		t.Error("two runs have the same id")
	}
}

func TestAssigner(t *testing.T) {
	a, err := NewAssigner(Assignment{Models: []string{"a", "b", "c"}, Strategy: RandomModels, OSL: &Distribution{Mean: 64, StdDev: 20}}, root(42))
	if err != nil {
		t.Fatal(err)
	}
	models := root(42).Stream("composer.turn.model_selection")
	for i := range 20 {
		if got, want := a.Model(), models.Below(3); got != want {
			t.Errorf("model %d is %d, want %d", i, got, want)
		}
	}
	var lengths []int
	for range 3 {
		lengths = append(lengths, a.MaxTokens())
	}
	if want := []int{90, 30, 61}; !slices.Equal(lengths, want) { // the same as in the Python tool
		t.Errorf("got %v, want %v", lengths, want)
	}
	for _, bad := range []Assignment{{}, {Models: []string{"a"}, Strategy: "best"}} {
		if _, err := NewAssigner(bad, root(1)); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestFaults(t *testing.T) {
	var f Faults
	if f.Err() != nil {
		t.Error("an error without a fault")
	}
	for i := range 12 {
		f.Add("a.jsonl:1", "text", "number %d", i)
	}
	want := "a.jsonl:1: text: number 9\nand 2 more"
	if f.Count() != 12 || !strings.HasSuffix(f.Err().Error(), want) {
		t.Errorf("%d faults: %v", f.Count(), f.Err())
	}
}

// TestWeightedModels checks that models are drawn by their weights, and that a model with weight 0 is never drawn.
func TestWeightedModels(t *testing.T) {
	a, err := NewAssigner(Assignment{Models: []string{"a", "b", "c"}, Strategy: Weighted, Weights: []float64{0.2, 0.8, 0}}, root(42))
	if err != nil {
		t.Fatal(err)
	}
	const draws = 10000
	var n [3]int
	for range draws {
		n[a.Model()]++
	}
	if n[2] != 0 || n[0] < draws*18/100 || n[0] > draws*22/100 { // five standard deviations of a binomial
		t.Errorf("%v of %d, want 20 %%, 80 %% and none", n, draws)
	}
	if _, err := NewAssigner(Assignment{Models: []string{"a", "b"}, Strategy: Weighted, Weights: []float64{1}}, root(42)); err == nil {
		t.Error("a model without a weight is taken")
	}
}
