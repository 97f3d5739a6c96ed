package trace

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnalyze checks the example of the contract, which the Python tool confirmed (blocks of 512).
func TestAnalyze(t *testing.T) {
	rows := []Shape{{1500, 100, []int64{1, 2, 3}}, {1400, 50, []int64{1, 2, 4}}, {300, 20, []int64{5}}}
	a, err := Analyze(512, func(f func(Shape)) error {
		for _, r := range rows {
			f(r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.Requests != 3 || a.UniquePrefixes != 5 || a.PrefixGroups != 1 || a.MinISL != 300 || a.MaxISL != 1500 || a.MinOSL != 20 || a.MaxOSL != 100 {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"hit rate", a.CacheHitRate, 2.0 / 9}, {"reuse", a.PrefixReuseRatio, 4.0 / 7}, {"avg isl", a.AvgISL, 3200.0 / 3}, {"avg osl", a.AvgOSL, 170.0 / 3},
		{"isl std", a.ISL.StdDev, 543.6502143433364}, {"isl p25", a.ISL.P25, 850}, {"isl p75", a.ISL.P75, 1450}, {"context", a.Context.Mean, 2048.0 / 3}, {"unique", a.Unique.Median, 376},
		{"most hits", a.HitRate.Max, 2.0 / 3},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestAnalyzeClamps checks that repeated blocks never exceed the input, and that rows without ids have no hit rate.
func TestAnalyzeClamps(t *testing.T) {
	a, err := Analyze(1024, func(f func(Shape)) error {
		f(Shape{600, 1, []int64{1, 2}})
		f(Shape{600, 1, []int64{1, 3}})
		f(Shape{70, 1, nil})
		return nil
	})
	if err != nil || a.Unique.Min != 0 || a.Context.Max != 600 || a.HitRate.Max != 0.5 {
		t.Errorf("%v %+v %+v", err, a.Unique, a.HitRate)
	}
	if none, err := Analyze(512, func(func(Shape)) error { return nil }); err != nil || none.ISL != nil || none.HitRate != nil || none.Requests != 0 {
		t.Errorf("%+v %v", none, err)
	}
}

func TestShapesTellPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte("{\"input_length\":3}\n\n{\"input_length\":\"x\"}\n[1]\n{\"hash_ids\":[1.5]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Shapes(path, func(Shape) {})
	for _, want := range []string{":3: input_length: must be an integer", ":4: must be a JSON object", ":5: hash_ids[0]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
