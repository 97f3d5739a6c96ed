package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/telemetry/exposition"
)

// told returns a store of pages, one a second from instant 1 s on.
func told(pages ...string) *Store {
	s := NewStore(nil)
	for i, text := range pages {
		s.Add("u", exposition.Parse([]byte(text)), Fetch{FirstByte: int64(i+1) * 1e9}, false)
	}
	return s
}

// find is the only series of a metric.
func find(t *testing.T, r *Results, name string) Series {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name && len(m.Series) == 1 {
			return m.Series[0]
		}
	}
	t.Fatalf("no %s in %+v", name, r.Metrics)
	return Series{}
}

func value1(t *testing.T, list []Stat, key string) float64 {
	t.Helper()
	for _, s := range list {
		if s.Key == key {
			return s.Value
		}
	}
	t.Fatalf("no %s in %+v", key, list)
	return 0
}

func counterPage(v float64) string { return fmt.Sprintf("# TYPE c_total counter\nc_total %g\n", v) }

// TestCounterOverARestart: by hand, 10 -> 15 -> (restart) 2 -> 6 grows by 5 + 2 + 4.
func TestCounterOverARestart(t *testing.T) {
	r := told(counterPage(10), counterPage(15), counterPage(2), counterPage(6)).Results(Window{2e9, 3e9}, 0)
	s := find(t, r, "c")
	if total, rate := value1(t, s.Stats, "total"), value1(t, s.Stats, "rate"); total != 11 || math.Abs(rate-11.0/3) > 1e-12 || !slices.Equal(r.Resets, []string{"c"}) {
		t.Errorf("total %v, rate %v, resets %v", total, rate, r.Resets)
	}
}

func histogramPage(low, all, sum float64) string {
	return fmt.Sprintf("# TYPE h histogram\nh_bucket{le=\"1\"} %g\nh_bucket{le=\"+Inf\"} %g\nh_sum %g\nh_count %g\n", low, all, sum, all)
}

// TestHistogramOverARestart: count and sum add the pieces up, buckets and percentiles are withheld.
func TestHistogramOverARestart(t *testing.T) {
	s := find(t, told(histogramPage(1, 2, 9), histogramPage(4, 6, 20), histogramPage(1, 1, 0.5), histogramPage(3, 4, 8)).Results(Window{2e9, 4e9}, 0), "h")
	if n, sum := value1(t, s.Stats, "count"), value1(t, s.Stats, "sum"); n != 4+1+3 || sum != 11+0.5+7.5 || s.Buckets != nil {
		t.Errorf("count %v, sum %v, buckets %v", n, sum, s.Buckets)
	}
	for _, one := range s.Stats {
		if strings.HasSuffix(one.Key, "_estimate") {
			t.Errorf("%s over a restart", one.Key)
		}
	}
}

// TestSeriesThatAppears: by hand, 10 requests were counted when the series appeared between 2 and 3 s, and 4 more until 4 s. A server creates it with
// the first request, so it was 0 on the page at 2 s.
func TestSeriesThatAppears(t *testing.T) {
	other := "# TYPE g gauge\ng 1\n"
	r := told(other, other, counterPage(10)+histogramPage(4, 10, 20), counterPage(14)+histogramPage(5, 14, 30)).Results(Window{1.5e9, 4e9}, 0)
	c, h := find(t, r, "c"), find(t, r, "h")
	if total, rate := value1(t, c.Stats, "total"), value1(t, c.Stats, "rate"); total != 14 || rate != 7 {
		t.Errorf("total %v, rate %v", total, rate)
	}
	if n, sum := value1(t, h.Stats, "count"), value1(t, h.Stats, "sum"); n != 14 || sum != 30 || !slices.Equal(h.Buckets, []Count{{"1", 5}, {"+Inf", 14}}) {
		t.Errorf("count %v, sum %v, buckets %v", n, sum, h.Buckets)
	}
	// On the first page of a server it may be of any age, and after a value that is not finite it existed before.
	for _, before := range [][]string{nil, {"# TYPE c_total counter\nc_total NaN\n" + other}} {
		r := told(append(before, counterPage(10)+other, counterPage(14)+other)...).Results(Window{0, 4e9}, 0)
		if total := value1(t, find(t, r, "c").Stats, "total"); total != 4 {
			t.Errorf("after %q: total %v", before, total)
		}
	}
}

// TestSlices: by hand, of a counter that grows by 1, 2, 3, 4 in its seconds, in slices of two seconds.
func TestSlices(t *testing.T) {
	r := told(counterPage(0), counterPage(1), counterPage(3), counterPage(6), counterPage(10), counterPage(15)).Results(Window{1e9, 6e9}, 2)
	s := find(t, r, "c")
	if len(s.Slices) != 3 || s.Slices[0].Partial || !s.Slices[2].Partial || s.Slices[2].End != 6e9 {
		t.Fatalf("%+v", s.Slices)
	}
	for i, want := range []float64{3, 7, 5} {
		if got := value1(t, s.Slices[i].Stats, "total"); got != want {
			t.Errorf("slice %d: %v, want %v", i, got, want)
		}
	}
	if a, sd := value1(t, s.Stats, "rate_avg"), value1(t, s.Stats, "rate_std"); a != 2.5 || math.Abs(sd-math.Sqrt2) > 1e-12 {
		t.Errorf("rates of whole slices: mean %v, std %v", a, sd)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	snap := read(exposition.Parse([]byte("# TYPE a_created gauge\na_created 1\nx_uptime 1\nx_uptime_s 1\n# TYPE s summary\ns_sum 1\n# TYPE n gauge\nn NaN\nn{a=\"1\"} 2\n" +
		"# TYPE h histogram\nh_bucket{le=\"1\",k=\"bad\"} 1\nh_sum{k=\"bad\"} +Inf\nh_count{k=\"bad\"} 1\nh_bucket{le=\"+Inf\",k=\"ok\"} 3\nh_sum{k=\"ok\"} 3\n" +
		"# TYPE build info\nbuild_info{v=\"1\"} 1\n# TYPE d gauge\nd 1\nd 2\n# TYPE d_total counter\nd_total 3\n# TYPE f_total counter\nf_total 4\n")))
	var got []string
	for _, m := range snap.metrics {
		got = append(got, fmt.Sprintf("%s %s %d %v", m.name, m.kind, len(m.samples), m.samples[0].value))
	}
	want := []string{"n gauge 1 2", "h histogram 1 0", "build_info gauge 1 1", "d gauge 1 2", "d_total counter 1 3", "f counter 1 4"}
	if !slices.Equal(got, want) || !slices.Equal(snap.skipped, []string{"s"}) || !slices.Equal(snap.dropped, []string{"n", "h"}) {
		t.Errorf("%q, skipped %q, dropped %q", got, snap.skipped, snap.dropped)
	}
}

// TestChangesOnTheWay: a metric that changes its type is ignored from then on, buckets that change make no percentiles.
func TestChangesOnTheWay(t *testing.T) {
	s := NewStore(nil)
	s.Add("u", exposition.Parse([]byte("# TYPE g gauge\ng 1\n"+histogramPage(1, 2, 3))), Fetch{FirstByte: 1e9}, false)
	told := s.Add("u", exposition.Parse([]byte("# TYPE g counter\ng 9\n# TYPE h histogram\nh_bucket{le=\"5\"} 4\nh_bucket{le=\"+Inf\"} 5\nh_sum 9\nh_count 5\n")), Fetch{FirstByte: 2e9}, false)
	if !slices.Equal(told.Conflict, []string{"g"}) {
		t.Errorf("%+v", told)
	}
	r := s.Results(Window{1e9, 2e9}, 0)
	if g := find(t, r, "g"); value1(t, g.Stats, "max") != 1 {
		t.Errorf("%+v", g)
	}
	if h := find(t, r, "h"); value1(t, h.Stats, "count") != 3 || h.Buckets != nil {
		t.Errorf("%+v", h)
	}
}

// TestEstimates: percentiles of known observations lie nearer to the truth than a bucket is wide, and their sum is kept.
func TestEstimates(t *testing.T) {
	// By hand: 100 observations evenly from 0 to 1, and one of 9 beyond the last bound.
	h := histogram{bounds: []float64{0.5, 1, math.Inf(1)}, counts: []float64{50, 50, 1}, sum: 50 + 9, means: make([][]observedGroup, 3)}
	p, ok := h.estimate()
	if !ok || math.Abs(p[4]-0.5) > 0.02 || math.Abs(p[7]-0.95) > 0.02 || p[8] < 0.95 || p[8] > 1 {
		t.Errorf("%v", p)
	}
	// The samples show what lies in a bucket: all near 0.1 of a bucket up to 1.
	known := histogram{bounds: []float64{1, math.Inf(1)}, counts: []float64{10, 0}, sum: 1, means: [][]observedGroup{{{0.1, 4}, {0.1, 3}, {0.1, 3}}, nil}}
	if p, ok := known.estimate(); !ok || math.Abs(p[4]-0.1) > 1e-9 || math.Abs(p[8]-0.1) > 1e-9 {
		t.Errorf("%v", p)
	}
	for _, bad := range []histogram{
		{bounds: []float64{math.Inf(1)}, counts: []float64{1}, sum: 1, means: make([][]observedGroup, 1)},
		{bounds: []float64{1}, counts: []float64{0}, sum: 1, means: make([][]observedGroup, 1)},
		{bounds: []float64{1}, counts: []float64{1}, sum: -1, means: make([][]observedGroup, 1)},
		{bounds: []float64{1}, counts: []float64{1}, sum: math.NaN(), means: make([][]observedGroup, 1)},
		{bounds: []float64{1, 2}, counts: []float64{1e18, 1 - 1e18}, sum: 1, means: make([][]observedGroup, 2)},
	} {
		if p, ok := bad.estimate(); ok {
			t.Errorf("%+v: %v", bad, p)
		}
	}
}

func FuzzStore(f *testing.F) {
	f.Add(histogramPage(1, 2, 3), counterPage(5))
	f.Add("# TYPE h histogram\nh_bucket{le=\"x\"} 1\nh_bucket 2\n", "h_sum 1\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := told(a, b, a).Results(Window{2e9, 3e9}, 1)
		h := &Head{Window: Window{2e9, 3e9}}
		if _, err := r.JSON(h); err != nil {
			t.Fatal(err)
		}
		if _, err := r.CSV(h); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPhasesShareTheRun: by hand, a counter that grew by 1, 2, 4, 8 from page to page. A phase counts from the last page before it to the last
// before the next one, which may come after its end; without such a page, to the first one after its end.
func TestPhasesShareTheRun(t *testing.T) {
	s := told(counterPage(0), counterPage(1), counterPage(3), counterPage(7), counterPage(15)) // at 1, 2, 3, 4, 5 s
	const second = 1_000_000_000
	for _, c := range []struct {
		name         string
		from, to     int64
		next         int64
		total        float64
		pages        int
		first, until int64
	}{
		{"the page before the next phase", 1.5 * second, 2.2 * second, 3.1 * second, 3, 2, 2 * second, 3 * second},
		{"no page before the next phase", 1.5 * second, 2.2 * second, 2.3 * second, 3, 2, 2 * second, 3 * second},
		{"the last phase", 3.1 * second, 3.9 * second, 0, 12, 2, 4 * second, 5 * second},
	} {
		r := s.Phase(Window{c.from, c.to}, c.next, 0)
		if total := value1(t, find(t, r, "c").Stats, "total"); total != c.total {
			t.Errorf("%s: grew by %v, want %v", c.name, total, c.total)
		}
		if e := r.Endpoints[0]; e.Fetches != c.pages || e.Updates != c.pages || e.FirstFetch != c.first || e.LastFetch != c.until {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	if r := s.Phase(Window{6 * second, 7 * second}, 0, 0); len(r.Endpoints) != 0 || len(r.Metrics) != 0 {
		t.Errorf("a phase without a page: %+v", r)
	}
}
