package plots

import (
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/report/chart"
)

// ranked shows the values of a metric in order: how many requests are below which.
func (s *Single) ranked(p *Preset) (*chart.Chart, error) {
	l, err := s.points(Ref{Metric: requestNumber}, p.Y)
	if err != nil {
		return nil, err
	}
	l.x, l.y = l.y, l.x
	l.sort()
	for i := range l.y {
		l.y[i] = 100 * float64(i+1) / float64(len(l.y))
	}
	c := &chart.Chart{X: chart.Axis{Title: l.title, FromZero: true}, Y: chart.Axis{Title: "Requests (%)", FromZero: true}}
	c.Traces = []chart.Trace{{
		Name: "Requests (%)", Kind: chart.Scatter, Mode: chart.Lines, X: l.x, Y: l.y, Style: chart.Style{Color: s.Theme.Color(0), Width: 2, Shape: "hv"},
	}}
	return c, nil
}

// TestHowToAddAPlot follows docs/howto/plot.md: this test has what the page asks for, and its row verbatim.
func TestHowToAddAPlot(t *testing.T) {
	before := singleTypes
	t.Cleanup(func() { singleTypes = before })
	singleTypes = map[string]func(*Single, *Preset) (*chart.Chart, error){
		"ranked": (*Single).ranked,
	}
	testrecording.CheckPageRows(t, "../../../docs/howto/plot.md", "howto_test.go", 1)
	got, said := drawn(t, "single_c4", one("single_run", "{type: ranked, y: time_to_first_token, title: TTFT ranked}"))
	c := got["x.png"]
	if c == nil || c.Title != "TTFT ranked" || c.X.Title != "Time to First Token (ms)" || len(c.Traces[0].X) != 24 || c.Traces[0].X[0] != 42.212277 || c.Traces[0].Y[23] != 100 {
		t.Errorf("%+v %s", c, said)
	}
}
