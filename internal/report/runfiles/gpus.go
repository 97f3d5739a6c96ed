package runfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/stats"
)

// GPUs holds the samples of all GPUs of a run.
type GPUs struct {
	Count int // number of GPUs
	tags  map[string]map[int64][]float64
}

// Tags returns the sampled figures, sorted.
func (g *GPUs) Tags() []string {
	var list []string
	for tag := range g.tags {
		list = append(list, tag)
	}
	slices.Sort(list)
	return list
}

// Mean returns a figure over time (wall clock, ns), in the unit of the file: the mean over the GPUs with a sample at an instant.
func (g *GPUs) Mean(tag string) (at []int64, values []float64) {
	of := g.tags[tag]
	for t := range of {
		at = append(at, t)
	}
	slices.Sort(at)
	for _, t := range at {
		values = append(values, stats.Mean(of[t]))
	}
	return at, values
}

func (r *Run) readGPUs() (*GPUs, error) {
	g := &GPUs{tags: map[string]map[int64][]float64{}}
	seen := map[string]bool{}
	err := r.lines(gpuFile, func(v *fastjson.Value) error {
		seen[fmt.Sprintf("%s %d", v.GetStringBytes("telemetry_source_url"), v.GetInt("gpu_index"))] = true
		at := v.GetInt64("timestamp_ns")
		v.GetObject("telemetry_data").Visit(func(key []byte, value *fastjson.Value) {
			if value.Type() != fastjson.TypeNumber {
				return
			}
			tag := string(key)
			if g.tags[tag] == nil {
				g.tags[tag] = map[int64][]float64{}
			}
			g.tags[tag][at] = append(g.tags[tag][at], value.GetFloat64())
		})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(seen) == 0 {
		return nil, fmt.Errorf("gpu_telemetry (%s): %w", gpuFile, ErrNone)
	}
	g.Count = len(seen)
	return g, err
}

// GPUCount returns the number of GPUs of a run, from its samples or else its summary; 0 = none.
func (r *Run) GPUCount() int {
	if g, err := r.GPUs(); err == nil {
		return g.Count
	}
	if s, err := r.Summary(); err == nil {
		return s.GPUs
	}
	return 0
}
