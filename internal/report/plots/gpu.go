package plots

import (
	"errors"
	"slices"

	"aiperf/internal/report/chart"
)

// vendorNote is the note below charts of GPU activity.
const vendorNote = "GPU activity semantics are vendor-specific and not comparable across vendors."

// activity lists the figures of GPU activity, the preferred one first.
var activity = []string{"nvidia_gpu_utilization", "gpu_utilization", "amd_gfx_activity"}

// dual draws two curves, each with its own axis.
func (s *Single) dual(p *Preset) (*chart.Chart, error) {
	if p.Y2 == nil {
		return nil, errors.New("y2 is missing")
	}
	left, err := s.points(p.X, p.Y)
	if err != nil {
		return nil, err
	}
	y2, subtitle := *p.Y2, ""
	if slices.Contains(activity, y2.Metric) {
		subtitle = vendorNote
		if y2.Metric, err = s.activity(y2.Metric); err != nil {
			return nil, err
		}
	}
	right, err := s.points(p.X, y2)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{
		Subtitle: subtitle, X: chart.Axis{Title: columnTitle(timestampS), FromZero: true}, Y: chart.Axis{Title: left.title, FromZero: true},
		Y2: &chart.Axis{Title: right.title, FromZero: true},
	}
	if percent(left.title) && percent(right.title) {
		for _, a := range []*chart.Axis{&c.Y, c.Y2} {
			a.Fixed, a.Max = true, 100
		}
	}
	for i, one := range []struct {
		l     *line
		style chart.Style
		mode  string
	}{{left, p.Primary, p.PrimaryMode}, {right, p.Secondary, p.SecondMode}} {
		t := chart.Trace{Name: one.l.title, Kind: chart.Scatter, Mode: one.mode, X: one.l.x, Y: one.l.y, Second: i == 1, Style: one.style, Hover: one.l.hover}
		t.Color = s.Theme.Color(i)
		c.Traces = append(c.Traces, t)
	}
	return c, nil
}

// percent reports whether the unit of an axis is percent.
func percent(title string) bool { return len(title) > 3 && title[len(title)-3:] == "(%)" }

// activity returns the figure of GPU activity that the run has.
func (s *Single) activity(asked string) (string, error) {
	g, err := s.Run.GPUs()
	if err != nil {
		return "", missing(err)
	}
	have := g.Tags()
	for _, tag := range append([]string{asked}, activity...) {
		if slices.Contains(have, tag) {
			return tag, nil
		}
	}
	return "", &Missing{What: "gpu_telemetry " + asked}
}

// gpuLine returns the mean of a figure over the GPUs, over the time since the first request.
func (s *Single) gpuLine(tag string) (*line, error) {
	g, err := s.Run.GPUs()
	if err != nil {
		return nil, missing(err)
	}
	at, values := g.Mean(tag)
	if len(at) == 0 {
		return nil, &Missing{What: "gpu_telemetry " + tag}
	}
	l := &line{y: values, title: metricTitle(tag, "")}
	l.x, err = s.since(at)
	return l, err
}
