package trace

import (
	"errors"
	"io"

	"aiperf/internal/measure/stats"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// Analysis describes the lengths and the prefix sharing of a trace (spec: datasets, section 10). Lengths are in tokens.
type Analysis struct {
	Requests         int     `json:"total_requests"`
	UniquePrefixes   int     `json:"unique_prefixes"`   // distinct prefixes of ids, of every length
	PrefixGroups     int     `json:"num_prefix_groups"` // first ids of at least two rows
	CacheHitRate     float64 `json:"cache_hit_rate"`    // mean of HitRate
	MinISL           int     `json:"min_isl"`
	MaxISL           int     `json:"max_isl"`
	AvgISL           float64 `json:"avg_isl"`
	MinOSL           int     `json:"min_osl"`
	MaxOSL           int     `json:"max_osl"`
	AvgOSL           float64 `json:"avg_osl"`
	PrefixReuseRatio float64 `json:"prefix_reuse_ratio"` // fraction of all prefix occurrences that belong to repeated prefixes
	ISL              *Spread `json:"isl_stats"`
	OSL              *Spread `json:"osl_stats"`
	Context          *Spread `json:"context_length_stats"`       // tokens in blocks that other rows have at the same position
	Unique           *Spread `json:"unique_prompt_length_stats"` // the rest of the input
	HitRate          *Spread `json:"hit_rate_stats"`             // fraction of leading ids seen before, as with an unlimited cache
}

// Spread describes a set of numbers. It has the population standard deviation and percentiles by linear interpolation.
type Spread struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"std_dev"`
	Min    float64 `json:"min"`
	P25    float64 `json:"p25"`
	Median float64 `json:"median"`
	P75    float64 `json:"p75"`
	Max    float64 `json:"max"`
}

// SpreadOf describes numbers and sorts them in place; nil = no numbers.
func SpreadOf(v []float64) *Spread {
	if len(v) == 0 {
		return nil
	}
	d := stats.Describe(v)
	at := func(level float64) float64 { return stats.Percentile(v, level) }
	return &Spread{Mean: d.Avg, StdDev: d.Std, Min: d.Min, P25: at(25), Median: at(50), P75: at(75), Max: d.Max}
}

// Shape is the part of a row that the analysis needs. Missing lengths are 0.
type Shape struct {
	Input, Output int
	IDs           []int64
}

// Shapes calls f for every row of a mooncake file. It returns the errors of rows as one error of up to ten lines. An empty file is not an error.
func Shapes(path string, f func(Shape)) error {
	var faults dataset.Faults
	err := rows.Objects(path, io.Discard, &faults, func(r *rows.Row) {
		s := Shape{}
		if n := r.Int("input_length", 0); n != nil {
			s.Input = *n
		}
		if n := r.Int("output_length", 0); n != nil {
			s.Output = *n
		}
		if r.Has("hash_ids") {
			s.IDs = r.Ints("hash_ids")
		}
		f(s)
	})
	if errors.Is(err, rows.ErrNoRecords) {
		err = nil
	}
	return errors.Join(err, faults.Err())
}

// Analyze analyses rows in two passes. pass calls its argument for every row. Memory grows with the number of different (position, id) pairs, and by
// 40 bytes per row.
func Analyze(block int, pass func(func(Shape)) error) (*Analysis, error) {
	a := &analyzer{block: block, places: map[place]bool{}, tree: NewTree("the trace")}
	if err := pass(a.count); err != nil {
		return nil, err
	}
	if err := pass(a.measure); err != nil {
		return nil, err
	}
	if a.fault != nil {
		return nil, a.fault
	}
	return a.result()
}

// place is an id at its position in a row.
type place struct {
	at int
	id int64
}

// analyzer collects the data of both passes.
type analyzer struct {
	block  int
	places map[place]bool // true = in more than one row
	tree   *Tree
	fault  error // error of the tree

	input, output, context, unique, hits []float64
}

// count is the first pass: it finds repeated ids.
func (a *analyzer) count(s Shape) {
	for i, id := range s.IDs {
		p := place{i, id}
		_, again := a.places[p]
		a.places[p] = again
	}
}

// measure is the second pass: it collects lengths and prefixes.
func (a *analyzer) measure(s Shape) {
	a.input, a.output = append(a.input, float64(s.Input)), append(a.output, float64(s.Output))
	shared := 0
	for i, id := range s.IDs {
		if a.places[place{i, id}] {
			shared++
		}
	}
	context := min(s.Input, shared*a.block) // the last block may be partial
	if shared == len(s.IDs) && shared > 0 {
		context = s.Input
	}
	a.context, a.unique = append(a.context, float64(context)), append(a.unique, float64(s.Input-context))
	if a.fault == nil {
		a.fault = a.tree.Add(s.IDs)
	}
}

func (a *analyzer) result() (*Analysis, error) {
	shared, err := a.tree.Sharing(func(rate float64) { a.hits = append(a.hits, rate) })
	if err != nil {
		return nil, err
	}
	r := &Analysis{Requests: len(a.input), UniquePrefixes: shared.Unique, PrefixGroups: shared.Groups, PrefixReuseRatio: shared.Reuse}
	r.ISL, r.OSL, r.Context, r.Unique, r.HitRate = SpreadOf(a.input), SpreadOf(a.output), SpreadOf(a.context), SpreadOf(a.unique), SpreadOf(a.hits)
	if r.ISL != nil {
		r.MinISL, r.MaxISL, r.AvgISL = int(r.ISL.Min), int(r.ISL.Max), r.ISL.Mean
		r.MinOSL, r.MaxOSL, r.AvgOSL = int(r.OSL.Min), int(r.OSL.Max), r.OSL.Mean
	}
	if r.HitRate != nil {
		r.CacheHitRate = r.HitRate.Mean
	}
	return r, nil
}
