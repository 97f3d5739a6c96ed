package config

import (
	"strings"
	"testing"
)

func TestParseSeed(t *testing.T) {
	for text, want := range map[string]Seed{
		"0": "0", "007": "7", "+7": "7", "1_0": "10", " 3 ": "3", "-0": "0", "18446744073709551616": "18446744073709551616",
		strings.Repeat("9", 4300): Seed(strings.Repeat("9", 4300)),
	} {
		if got, err := ParseSeed(text); err != nil || got != want {
			t.Errorf("%s: %s %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"-1": "must be >= 0", "1e3": "is not an integer", "1.5": "is not an integer", "": "is not an integer", "+": "is not an integer",
		"1__0": "is not an integer", "_1": "is not an integer", "+-1": "is not an integer", strings.Repeat("9", 4301): "more than 4300 digits",
	} {
		if got, err := ParseSeed(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s %v, want %q", text, got, err, want)
		}
	}
}

// TestBigSeed: a seed beyond 64 bits keeps all its digits from the file through the cells of a sweep into the exports.
func TestBigSeed(t *testing.T) {
	const big = "99999999999999999999"
	r := swept(SweepGrid, Axis{Path: "phases.profiling.concurrency", Values: []any{1, 2}})
	seed := Seed(big)
	r.RandomSeed, r.Dataset().RandomSeed = &seed, &seed
	text, err := r.YAML()
	if err != nil || !strings.Contains(string(text), "\nrandom_seed: "+big+"\n") {
		t.Fatalf("%v\n%s", err, text)
	}
	back, err := readRun(text)
	if err != nil || *back.RandomSeed != big || *back.Dataset().RandomSeed != big {
		t.Fatalf("%v %v", back, err)
	}
	cells, err := back.Cells()
	if err != nil || len(cells) != 2 {
		t.Fatal(len(cells), err)
	}
	if got := *cells[1].Run.RandomSeed; got != "100000000000000000000" {
		t.Errorf("the second cell has %s", got)
	}
	shown, err := cells[1].Run.InputConfig()
	if err != nil || !strings.Contains(string(shown), `"random_seed":100000000000000000000`) {
		t.Errorf("%v %s", err, shown)
	}
	for _, bad := range []string{"-1", "1e3", "[1]", "x"} {
		if _, err := readRun([]byte("random_seed: " + bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
