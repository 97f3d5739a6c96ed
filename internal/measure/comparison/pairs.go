package comparison

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/measure/stats"
)

// minPairs is the minimum number of pairs of a comparison, and minTailRequests the minimum number of requests of a block to judge p99.
const (
	minPairs        = 6
	minTailRequests = 100
)

// exactPairs is the maximum number of pairs for which all combinations of signs are tried. For more, combinations are drawn at random.
const exactPairs = 12

// Pairs judges B against A by blocks that took turns: a[i] and b[i] are a pair. It tests the differences of pairs by flipping their signs (Fisher
// 1935). The random order in a pair justifies this for any distribution. Intervals are Student's. Pairs with a doubt are dropped; if too few are
// left, it shows the figures without a judgement. seed draws combinations of signs if there are too many.
func Pairs(a, b []Run, o Options, seed uint64) (*Result, error) {
	family, err := o.family()
	if err != nil {
		return nil, err
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d blocks and %d blocks", len(a), len(b))
	}
	r := &Result{Basis: "pairs", Options: o}
	for i := range a {
		if doubt := cmp.Or(a[i].Doubt, b[i].Doubt); doubt != "" && !o.Invalid {
			r.Notes = append(r.Notes, fmt.Sprintf("pair %d is dropped: %s", i+1, doubt))
			continue
		}
		r.A, r.B = append(r.A, a[i]), append(r.B, b[i])
	}
	if len(a) == 0 {
		return nil, fmt.Errorf("no pair is complete; at least %d are needed", minPairs)
	}
	if len(r.A) < minPairs {
		few := &FewPairsError{Valid: len(r.A), All: len(a)}
		if few.Valid < few.All {
			few.doubt = commonDoubt(a, b)
		}
		if few.Valid < 2 {
			return nil, few
		}
		r.Refused, r.MorePairs = few.Error(), few.Enough()
	}
	for i := range family {
		r.pairLine(&family[i], seed)
	}
	judge([]*Result{r})
	r.eachPair(family)
	r.pairedCaches()
	r.DriftA, r.DriftB = driftOverBlocks(r.A), driftOverBlocks(r.B)
	return r, nil
}

// FewPairsError reports that too few pairs are valid.
type FewPairsError struct {
	Valid, All int
	doubt      string // the most frequent reason, with a leading colon
}

func (e *FewPairsError) Error() string {
	return fmt.Sprintf("only %d of %d pairs are valid; at least %d are needed%s", e.Valid, e.All, minPairs, e.doubt)
}

// Enough returns how many pairs to ask for: if the same share of them is valid, half as many again as the minimum are.
func (e *FewPairsError) Enough() int {
	return (3*minPairs*e.All + 2*max(e.Valid, 1) - 1) / (2 * max(e.Valid, 1))
}

// commonDoubt returns the most frequent doubt about blocks, with a leading colon; "" if there is none.
func commonDoubt(a, b []Run) string {
	count := map[string]int{}
	most := ""
	for _, run := range slices.Concat(a, b) {
		if run.Doubt == "" {
			continue
		}
		if count[run.Doubt]++; most == "" || count[run.Doubt] > count[most] {
			most = run.Doubt
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf(": in %d of %d blocks %s", count[most], len(a)+len(b), most)
}

// driftOverBlocks returns the change of the mean latency over the blocks of one side (Theil and Sen), as a fraction.
func driftOverBlocks(side []Run) float64 {
	var list []float64
	for i := range side {
		list = append(list, stats.Mean(side[i].Values["request_latency"]))
	}
	_, change := trend(list)
	return change
}

// pairLine compares one statistic of all pairs.
func (r *Result) pairLine(s *statistic, seed uint64) {
	a, okA := s.all(r.A)
	b, okB := s.all(r.B)
	if !okA || !okB || s.higherIsBetter && s.tag != "goodput" && r.A[0].Fixed {
		return
	}
	fewest := math.MaxInt
	for _, side := range [][]Run{r.A, r.B} {
		for i := range side {
			fewest = min(fewest, side[i].requests())
		}
	}
	plain := s.tag == "error_rate"
	l := Line{Tag: s.tag, Stat: s.stat, Unit: s.unit, A: stats.Mean(a), B: stats.Mean(b), Margin: r.Options.margin(s), higherIsBetter: s.higherIsBetter}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = b[i] - a[i]
		if !plain {
			d[i] = math.Log(b[i]) - math.Log(a[i])
		}
	}
	diff := s.paired(r, d, seed, &l)
	l.fill(&diff, r.Options.Confidence, plain)
	if s.p == .99 && fewest < minTailRequests {
		l.Outcome, l.Reason = Cannot, fmt.Sprintf("%d requests in a block; a p99 needs %d", fewest, minTailRequests)
	}
	if r.Refused != "" {
		l.Outcome, l.Reason = Cannot, tooFewPairs
	}
	r.Lines = append(r.Lines, l)
}

// paired returns the mean difference of pairs and sets its p-value in l. The timestamps of blocks may be approximate. Each end of the interval
// therefore assumes that these limits had their maximum effect, and the p-value is that of the end nearest to 0.
func (s *statistic) paired(r *Result, d []float64, seed uint64, l *Line) Difference {
	low, high := slices.Clone(d), slices.Clone(d)
	for i := range d {
		lowA, highA := s.stretch(&r.A[i])
		lowB, highB := s.stretch(&r.B[i])
		low[i] += math.Log(lowB / highA)
		high[i] += math.Log(highB / lowA)
	}
	least, most := Paired(low), Paired(high)
	switch {
	case least.Log > 0:
		l.P = FlipP(low, seed)
	case most.Log < 0:
		l.P = FlipP(high, seed)
	default:
		l.P = 1
	}
	return Difference{Log: stats.Mean(d), limits: func(level float64) (float64, float64) {
		from, _ := least.limits(level)
		_, to := most.limits(level)
		return from, to
	}}
}

// Paired returns the mean of differences with Student's interval.
func Paired(d []float64) Difference {
	n := float64(len(d))
	m, se := stats.Mean(d), stats.SampleStd(d)/math.Sqrt(n)
	return Difference{Log: m, limits: func(level float64) (float64, float64) {
		h := stats.StudentT(level, n-1) * se
		return m - h, m + h
	}}
}

// FlipP returns the share of all combinations of signs whose sum is at least as far from 0 as that of the differences. With more than exactPairs
// differences, it uses 10,000 random combinations.
func FlipP(d []float64, seed uint64) float64 {
	sum, all := 0.0, 0.0
	for _, v := range d {
		sum += v
		all += math.Abs(v)
	}
	limit, hits, tried := math.Abs(sum)-1e-12*max(1, all), 0, 0
	try := func(sign func(i int) bool) {
		s := 0.0
		for i, v := range d {
			if sign(i) {
				v = -v
			}
			s += v
		}
		tried++
		if math.Abs(s) >= limit {
			hits++
		}
	}
	if len(d) <= exactPairs {
		for bits := range 1 << len(d) {
			try(func(i int) bool { return bits>>i&1 == 1 })
		}
	} else {
		r := rand.New(rand.NewPCG(seed, 1))
		try(func(int) bool { return false }) // the observed combination is one of them
		for range 9999 {
			try(func(int) bool { return r.Uint64()&1 == 1 })
		}
	}
	return float64(hits) / float64(tried)
}

// Order returns for every pair whether A goes first, drawn at random with a seed.
func Order(pairs int, seed uint64) []bool {
	r := rand.New(rand.NewPCG(seed, 2))
	first := make([]bool, pairs)
	for i := range first {
		first[i] = r.Uint64()&1 == 0
	}
	if !slices.Contains(first, true) || !slices.Contains(first, false) { // all on one side would not be a random order
		first[0] = !first[0]
	}
	return first
}
