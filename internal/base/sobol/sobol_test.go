package sobol

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// TestSameAsSciPy: the points are those that SciPy 1.17 draws (testdata/scipy.json).
func TestSameAsSciPy(t *testing.T) {
	text, err := os.ReadFile("testdata/scipy.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Kind    string
		Dims, N int
		Seed    uint64
		Option  bool
		Points  [][]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 8 {
		t.Fatal(err, len(cases))
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %d x %d, seed %d, %v", c.Kind, c.N, c.Dims, c.Seed, c.Option), func(t *testing.T) {
			var got [][]float64
			if c.Kind == "lhs" {
				got = LatinHypercube(c.Dims, c.N, c.Seed, c.Option)
			} else if got, err = Sobol(c.Dims, c.N, c.Seed, c.Option); err != nil {
				t.Fatal(err)
			}
			for i := range c.Points {
				for d, want := range c.Points[i] {
					if math.Abs(got[i][d]-want) > 1e-12 {
						t.Fatalf("point %d, dimension %d: %v, want %v", i, d, got[i][d], want)
					}
				}
			}
		})
	}
}

func TestTooManyDimensions(t *testing.T) {
	if _, err := Sobol(MaxDims+1, 2, 1, true); err == nil {
		t.Error("no error")
	}
}
