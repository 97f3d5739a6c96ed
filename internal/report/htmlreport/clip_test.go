package htmlreport

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// TestClip: sixteen outliers of 20,000 values end the axis at the bulk and are counted in a note; without outliers, with too few values, or where a
// logarithmic axis has room for them, the axis stays.
func TestClip(t *testing.T) {
	bulk := make([]float64, 20000)
	for i := range bulk {
		bulk[i] = 100 + float64(i)/200 // up to 200
	}
	outliers := slices.Clone(bulk)
	for i := range 16 {
		outliers[len(outliers)-1-i] = 8269 - float64(i)*100
	}
	slices.Sort(outliers)
	var a chart.Axis
	if notes := clip(&a, outliers, "ms"); len(notes) != 1 || notes[0] != "16 above, up to 8,269 ms" || !a.Clipped || !a.Fixed || a.Min != 0 || a.Max < 200 || a.Max > 215 {
		t.Errorf("%q, %+v", notes, a)
	}
	log := chart.Axis{Scale: chart.Log}
	if notes := clip(&log, outliers, "ms"); len(notes) != 1 || log.Min <= 0 || log.Min > 100 {
		t.Errorf("%q, %+v", notes, log)
	}
	near := slices.Clone(outliers)
	for i := range near {
		near[i] = min(near[i], 900)
	}
	for name, c := range map[string]struct {
		axis   chart.Axis
		values []float64
	}{"no outlier": {chart.Axis{}, bulk}, "few": {chart.Axis{}, outliers[19100:]}, "log": {chart.Axis{Scale: chart.Log}, near}} {
		if notes := clip(&c.axis, c.values, "ms"); notes != nil || c.axis.Fixed {
			t.Errorf("%s: %q, %+v", name, notes, c.axis)
		}
	}
}

// TestCellsAsPoints: the trade-off of a sweep has one point per cell with a whisker over its runs, labelled with the setting in words, and axes that
// do not begin at zero if all values are far from it.
func TestCellsAsPoints(t *testing.T) {
	var cells []cell
	for _, name := range []string{"c4", "c8"} {
		run := runfiles.Open(filepath.Join(recorded, "multi_c1_c4_c8", name))
		again := runfiles.Open(filepath.Join(recorded, "multi_c1_c4_c8", "c1"))
		cells = append(cells, cell{name: "concurrency " + name[1:], runs: []*runfiles.Run{run, again}})
	}
	c := newGrid(cells).chart(figureOf{"time_to_first_token", "p50", "x (ms)"}, figureOf{"request_latency", "p50", "y (ms)"}, "t", false)
	dots := c.Traces[1]
	if len(dots.X) != 2 || strings.Join(dots.Text, ",") != "concurrency 4,concurrency 8" || !(dots.ErrorX[0] > 0) || !(dots.ErrorY[1] > 0) {
		t.Errorf("%+v", dots)
	}
	for _, one := range []struct {
		values []float64
		want   bool
	}{{[]float64{98, 100}, false}, {[]float64{10, 100}, true}, {[]float64{0, 0}, true}, {nil, true}} {
		if got := chart.NearZero(one.values); got != one.want {
			t.Errorf("%v: %v", one.values, got)
		}
	}
	if list := cellsOf([]*runfiles.Run{cells[0].runs[0]}); list[0].name != "concurrency 4" {
		t.Error(list[0].name)
	}
}

// TestPercentilesOfALane: a lane has p99 where a slice has a hundred requests, and its value is that of the requests of the slice.
func TestPercentilesOfALane(t *testing.T) {
	var lines []string
	for i := range 8000 { // one a millisecond, with latencies of 1 to 171 ms
		lines = append(lines, request(1+i, 2+i+i*i%171, ""))
	}
	q, err := made(t, `{}`, lines...).Requests()
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(q)
	lane := c.lane(q, sample(q, maxRows), "request_latency", "x")
	i := slices.IndexFunc(lane.Traces, func(t chart.Trace) bool { return t.Name == "p99" })
	if i < 0 {
		t.Fatalf("no p99: %+v", lane.Traces)
	}
	var first []float64 // latencies of the first slice
	for k := range q.Len() {
		if c.slice(c.at(q.Start[k])) == 0 {
			first = append(first, float64(q.End[k]-q.Start[k])/1e6)
		}
	}
	slices.Sort(first)
	rank := 0.99 * float64(len(first)-1)
	low := int(rank)
	want := first[low] + (rank-float64(low))*(first[low+1]-first[low])
	if got := lane.Traces[i].Y[0]; len(first) < 100 || got < want-1e-6 || got > want+1e-6 {
		t.Errorf("p99 of %d requests is %g, want %g", len(first), got, want)
	}
}
