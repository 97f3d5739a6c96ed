package metric

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// Summary holds the metrics of a run, of its warm-up, or of a slice.
type Summary struct {
	Results []Result // in the order of the exports, including hidden ones

	Valid, Failed, Cut int64
	Errors             []ErrorGroup // most frequent first
	Span               Window       // wall time of the requests
	Window             Window       // window of the curves
	// OneMessage counts answers of two or more tokens in one message, which have no ITL.
	OneMessage int64
	// Uncounted counts requests whose tokens were not counted. They are not part of any token metric.
	Uncounted   int64
	Reads       int64   // socket reads with a kernel timestamp
	ReadDelay   int64   // sum of their delays until the client's read, ns
	SharedReads int64   // content messages that share their read with a later message: their timestamp is an upper bound
	DraftSteps  []int64 // verification steps by their number of accepted tokens; nil = no speculative decoding
	Thresholds  Thresholds
	Certainty   Certainty
	Certain     []Result // metrics of the certain requests alone, if there are uncertain ones
	Bounds      Bounds   // ranges of the inexact statistics
	CutUse      CutUse
	TimeoutUse  TimeoutUse
	CancelUse   CancelUse
	RateUse     RateUse
	AnswerUse

	byTag       map[string]int
	understated []understatement // statistics that the requests without an answer would make larger
}

// Get returns the result of a metric.
func (s *Summary) Get(tag string) (Result, bool) {
	i, ok := s.byTag[tag]
	if !ok {
		return Result{}, false
	}
	return s.Results[i], true
}

// Value returns one statistic of a metric, NaN if it does not exist.
func (s *Summary) Value(tag string, stat Stat) float64 {
	if r, ok := s.Get(tag); ok {
		return r.Values[stat]
	}
	return math.NaN()
}

// Shown returns the results that outputs show.
func (s *Summary) Shown() []Result {
	return slices.DeleteFunc(slices.Clone(s.Results), func(r Result) bool { return r.Hidden() })
}

// Summary reduces all rows. window is the phase, for curves over time; zero = the span of the requests.
func (r *Reducer) Summary(window Window) *Summary {
	if window.To <= window.From {
		window = r.Span()
	}
	one := bucket{window: window}
	if r.set.opts.As013 {
		one.seconds = float64(window.To-window.From) / 1e9
	}
	t := r.totals(nil, []bucket{one})[0]
	s := t.summary(r.curves([]bucket{one})[0])
	s.Cut = r.counts[Cut]
	s.DraftSteps = r.drafts
	s.Uncounted, s.AnswerUse = r.uncounted, r.answers
	s.OneMessage, s.Reads, s.ReadDelay, s.SharedReads = r.oneMessage, r.reads, r.readDelay, r.sharedReads
	for _, g := range r.order {
		s.Errors = append(s.Errors, *g)
	}
	sorting.Stable(s.Errors, func(a, b ErrorGroup) int { return cmp.Compare(b.Count, a.Count) })
	s.Certainty, s.Certain = r.certainty()
	s.Bounds = r.bounds(t)
	s.CutUse = CutUse{CutCount: r.counts[Cut], CutWaited: r.waited(atEnd)}
	s.TimeoutUse = TimeoutUse{TimedOut: int64(len(r.unanswered[atTimeout])), TimeoutWaited: r.waited(atTimeout)}
	s.CancelUse = CancelUse{CancelWaited: r.waited(asPlanned)}
	s.understated = r.understated(t)
	s.RateUse = r.rateUse(t)
	s.Span, s.Window, s.Thresholds = r.Span(), window, *r.set.opts.Thresholds
	return s
}

// bucket is a set of rows with a common summary.
type bucket struct {
	window  Window  // window of the curves
	seconds float64 // divisor of rates, 0 = the duration of the requests
	slice   bool
}

// reduce summarises rows by bucket. of contains the bucket of each row; nil = all rows in the first bucket.
func (r *Reducer) reduce(of []int32, buckets []bucket) []*Summary {
	all, curves := r.totals(of, buckets), r.curves(buckets)
	out := make([]*Summary, len(buckets))
	for i := range out {
		out[i] = all[i].summary(curves[i])
	}
	return out
}

// totals computes the totals by bucket.
func (r *Reducer) totals(of []int32, buckets []bucket) []*totals {
	all := make([]*totals, len(buckets))
	for i := range all {
		all[i] = newTotals(r.set, buckets[i])
	}
	all[0].nCut = r.counts[Cut]
	r.count(of, all)
	r.describe(of, all)
	return all
}

// count fills the counts of the totals.
func (r *Reducer) count(of []int32, all []*totals) {
	cursor := func(tag string) *stats.Cursor { return r.column(tag).Cursor() }
	class, start, over := r.class.Cursor(), r.start.Cursor(), r.overflow.Cursor()
	latency, osl, want := cursor("request_latency"), cursor("output_sequence_length"), cursor("requested_osl")
	diffs := [3]*stats.Cursor{cursor("usage_prompt_tokens_diff_pct"), cursor("usage_completion_tokens_diff_pct"), cursor("usage_reasoning_tokens_diff_pct")}
	limits := r.set.opts.Thresholds
	for i := range r.rows {
		t := all[0]
		if of != nil {
			t = all[of[i]]
		}
		begin := r.base + int64(start.Next())
		took := latency.Next()
		if Class(class.Next()) == Valid {
			if t.nValid == 0 {
				t.start, t.response = begin, begin
			}
			t.nValid++
			t.start = min(t.start, begin)
			if !math.IsNaN(took) {
				t.response = max(t.response, begin+int64(took))
			}
		} else {
			t.nFailed++
		}
		t.nOverflow += int64(over.Next())
		if n, w := osl.Next(), want.Next(); n >= 0 && w > 0 {
			t.anyMismatch = true
			if math.Abs(n-w) > min(w*limits.OSLPct/100, limits.OSLTokens) {
				t.nMismatch++
			}
		}
		prompt, completion, reasoning := diffs[0].Next(), diffs[1].Next(), diffs[2].Next()
		if !math.IsNaN(prompt) && !math.IsNaN(completion) {
			t.anyDiff = true
			if prompt > limits.UsagePct || completion > limits.UsagePct || reasoning > limits.UsagePct {
				t.nDiscrepant++
			}
		}
	}
}

// column returns the values of a metric; empty if the set does not have it.
func (r *Reducer) column(tag string) *stats.Column {
	if i := r.set.slot[index[tag]]; i >= 0 {
		return r.values[i]
	}
	return new(stats.Column)
}

// describe computes the distributions of the totals, with columns in parallel.
func (r *Reducer) describe(of []int32, all []*totals) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(4, processors.Cores()) {
		wg.Go(func() {
			var room []float64 // shared by the columns, because they are long
			for pos := range work {
				room = r.describeOne(pos, of, all, room)
			}
		})
	}
	for _, pos := range r.set.columns {
		work <- pos
	}
	close(work)
	if i := index["inter_chunk_latency"]; r.set.use[i] {
		r.describeGaps(i, of, all)
	}
	wg.Wait()
}

// describeGaps computes the distributions of the gaps. There is one for each token, so they are not copied for the whole run.
func (r *Reducer) describeGaps(pos int, of []int32, all []*totals) {
	if of == nil {
		all[0].dist[pos] = stats.DescribeSeq(r.gaps.Values(), r.gaps.Len())
		return
	}
	sizes, row := make([]int, len(all)), 0
	for n := range r.lens.Values() {
		sizes[of[row]] += int(n)
		row++
	}
	split := make([][]float64, len(all))
	for b, n := range sizes {
		split[b] = make([]float64, 0, n) // appending would leave garbage
	}
	gaps, lens := r.gaps.Cursor(), r.lens.Cursor()
	for row := range r.rows {
		for range int(lens.Next()) {
			split[of[row]] = append(split[of[row]], gaps.Next())
		}
	}
	for b, values := range split {
		all[b].dist[pos] = stats.Describe(values)
	}
}

// manyValues is the number of values of a column above which they are not copied.
var manyValues = stats.FewValues

// present leaves out the requests without a value.
func present(values iter.Seq[float64]) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for v := range values {
			if !math.IsNaN(v) && !yield(v) {
				return
			}
		}
	}
}

// describeOne computes the distributions of a column. Values of very many requests are not copied, unless something else needs them sorted. It uses
// and returns room for its values.
func (r *Reducer) describeOne(pos int, of []int32, all []*totals, room []float64) []float64 {
	column := r.values[r.set.slot[pos]]
	offset, adjusted := table[pos].Tag == "replay_send_schedule_offset", table[pos].Flags&Adjusted != 0
	if of == nil && column.Len() > manyValues && !offset && !(adjusted && all[0].nFailed > 0) {
		all[0].dist[pos] = stats.DescribeSeq(present(column.Values()), column.Len())
		return room
	}
	split := make([][]float64, len(all))
	if of == nil { // growing a slice leaves garbage of several times its size
		split[0] = slices.Grow(room[:0], column.Len())
	}
	put := func(row int, v float64) {
		if math.IsNaN(v) {
			return
		}
		b := 0
		if of != nil {
			b = int(of[row])
		}
		split[b] = append(split[b], v)
	}
	c := column.Cursor()
	for row := range r.rows {
		put(row, c.Next())
	}
	for b, values := range split {
		if offset {
			all[b].offsets = slices.Clone(values)
		}
		all[b].dist[pos] = stats.Describe(values)
		if adjusted && all[b].nFailed > 0 {
			all[b].adjusted[pos] = adjust(values, all[b].nFailed, table[pos].Factor())
		}
	}
	return split[0]
}
