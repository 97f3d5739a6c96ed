package dataset

import (
	"math"
	"testing"

	"aiperf/internal/base/rng"
)

// TestShape compares means, medians and fractions of many draws with the distribution. Draws stay within the bounds, and a cost is subtracted.
func TestShape(t *testing.T) {
	low, high := 60.0, 300.0
	stream := rng.NewStream(7)
	draw := func(s *Shape) (mean, under, least, most float64) {
		const n = 40_000
		least = math.Inf(1)
		for range n {
			x := s.Draw(stream)
			mean += x / n
			if x < 100 {
				under += 1.0 / n
			}
			least, most = min(least, x), max(most, x)
		}
		return mean, under, least, most
	}
	for name, one := range map[string]struct {
		s           Shape
		mean, under float64 // fraction below 100
		least, most float64
	}{
		"log-normal":      {Shape{Mean: 200, Median: 100}, 200, 0.5, 0, math.Inf(1)},
		"median is mean":  {Shape{Mean: 50, Median: 50}, 50, 1, 50, 50},
		"normal":          {Shape{Mean: 100, StdDev: 20}, 100, 0.5, 0, math.Inf(1)},
		"points":          {Shape{Points: []Point{{50, 3}, {250, 1}}}, 100, 0.75, 50, 250},
		"peaks":           {Shape{Peaks: []Peak{{Shape{Mean: 50}, 1}, {Shape{Mean: 200, StdDev: 5}, 3}, {Shape{Mean: 900}, 0}}}, 162.5, 0.25, 50, 300},
		"within bounds":   {Shape{Points: []Point{{10, 1}, {1000, 1}}, Min: &low, Max: &high}, 180, 0.5, 60, 300},
		"peaks in bounds": {Shape{Peaks: []Peak{{Shape{Mean: 10, Min: &low}, 1}, {Shape{Mean: 900}, 1}}, Max: &high}, 180, 0.5, 60, 300},
	} {
		mean, under, least, most := draw(&one.s)
		if math.Abs(mean/one.mean-1) > 0.03 || math.Abs(under-one.under) > 0.015 || least < one.least || most > one.most {
			t.Errorf("%s: mean %.1f, below 100 %.3f, %.1f to %.1f; want %+v", name, mean, under, least, most, one)
		}
	}
	d := Distribution{Mean: 5, Shape: &Shape{Points: []Point{{5.2, 1}}}}
	if d.Fixed() || d.Draw(stream) != 6 || d.DrawLess(stream, 2) != 4 || d.DrawLess(stream, 9) != 1 {
		t.Error("a draw of 5.2 is 6, less a cost, and 1 at least")
	}
}
