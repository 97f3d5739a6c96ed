package config

import (
	"fmt"
	"math"
	"strconv"

	"aiperf/internal/base/sobol"
)

// sampled returns the points of a Sobol sequence or a Latin hypercube.
func (r *Run) sampled() ([]point, error) {
	s := r.Sweep
	if s.Samples > maxCells {
		return nil, fmt.Errorf("sweep.samples: %d cells; %d at most", s.Samples, maxCells)
	}
	if s.Samples < 1 {
		return nil, fmt.Errorf("sweep.samples must be >= 2, not %d", s.Samples)
	}
	for i := range s.Dimensions {
		if !s.Dimensions[i].hasValues() {
			return nil, fmt.Errorf("sweep.dimensions[%d] has no values: it needs choices, or lo < hi (and lo > 0 for scale log)", i)
		}
	}
	unit, err := r.unitPoints()
	if err != nil {
		return nil, fmt.Errorf("sweep.dimensions: %w", err)
	}
	all := make([]point, len(unit))
	used := map[string]int{}
	for i, u := range unit {
		p := &all[i]
		for k := range s.Dimensions {
			p.values = append(p.values, Axis{Path: s.Dimensions[k].Path, Values: []any{s.Dimensions[k].at(u[k])}})
		}
		p.dir, p.label = cellName(p.values, i)
		if s.LabelFormat != "kv" {
			p.label = fmt.Sprintf("%s_%04d", s.Type, i)
		}
		p.dir = uniqueDir(used, p.dir) // rounded values may repeat
	}
	return all, nil
}

// unitPoints returns the points of a sampled design in the unit cube.
func (r *Run) unitPoints() ([][]float64, error) {
	s := r.Sweep
	seed := r.DesignSeed(s.Seed)
	if s.Type == SweepSobol {
		return sobol.Sobol(len(s.Dimensions), s.Samples, seed, s.Scramble == nil || *s.Scramble)
	}
	return sobol.LatinHypercube(len(s.Dimensions), s.Samples, seed, s.Optimization != "none"), nil
}

// DesignSeed returns the seed for the random choices of a sweep: its own, otherwise the low 63 bits of the run's, otherwise 42.
func (r *Run) DesignSeed(own *int64) uint64 {
	if own != nil {
		return uint64(*own)
	}
	if r.RandomSeed != nil {
		if v, err := strconv.ParseUint(string(*r.RandomSeed), 10, 63); err == nil {
			return v
		}
	}
	return 42
}

// hasValues reports whether a dimension has choices or a range. Validate says what is wrong with others.
func (d *Dimension) hasValues() bool {
	if d.Choices != nil {
		return len(d.Choices) > 0
	}
	return d.Low < d.High && (d.Scale != "log" || d.Low > 0)
}

// at returns the value of a dimension at a coordinate in [0, 1): a choice, or a position in the range, linear or logarithmic. Integers are rounded
// half to even and stay in the range.
func (d *Dimension) at(u float64) any {
	if d.Choices != nil {
		return d.Choices[min(int(u*float64(len(d.Choices))), len(d.Choices)-1)]
	}
	v := d.Low + u*(d.High-d.Low)
	if d.Scale == "log" {
		v = math.Exp(math.Log(d.Low) + u*(math.Log(d.High)-math.Log(d.Low)))
	}
	if d.Kind == "int" {
		return int(max(math.Ceil(d.Low), min(math.RoundToEven(v), math.Floor(d.High))))
	}
	return v
}
