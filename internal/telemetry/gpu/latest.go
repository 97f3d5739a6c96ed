package gpu

import (
	"math"

	"aiperf/internal/metric"
	"aiperf/internal/stats"
	"aiperf/internal/telemetry"
)

// Live is one GPU while the run goes on: its figures so far, and by their tags the values that were told last.
type Live struct {
	Endpoint string
	metric.GPU
	Current map[string]float64
}

// Live are the GPUs as they stand, of the samples within a window. It looks at all of them: it is for somebody who watches, not for every second.
func (c *Collector) Live(w metric.Window) (list []Live) {
	for _, source := range c.configured {
		for _, g := range c.series.Figures(source, w) {
			list = append(list, Live{Endpoint: telemetry.Name(source), GPU: g, Current: c.series.latest(source, g.Index)})
		}
	}
	return list
}

// Sources are those that were asked, and those that answered.
func (c *Collector) Sources() (configured, successful []string) { return c.configured, c.successful }

func (s *Series) latest(source string, index int) map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.gpus[gpuKey{source, index}]
	if t == nil {
		return nil
	}
	values := map[string]float64{}
	for i := range s.fields.list {
		if v, ok := last(&t.values[i]); ok {
			values[s.fields.list[i].Tag] = v
		}
	}
	return values
}

// Latest is what the GPUs told last of a figure: their sum, or their mean; false = none has told it.
func (c *Collector) Latest(tag string, mean bool) (float64, bool) {
	s := c.series
	s.mu.Lock()
	defer s.mu.Unlock()
	field, ok := s.fields.byTag[tag]
	if !ok {
		return 0, false
	}
	sum, n := 0.0, 0
	for _, t := range s.gpus {
		if v, ok := last(&t.values[field]); ok {
			sum += v
			n++
		}
	}
	if mean && n > 0 {
		sum /= float64(n)
	}
	return sum, n > 0
}

// last is the last value of a column that is one.
func last(column *stats.Column) (float64, bool) {
	for k := column.Len() - 1; k >= 0; k-- {
		if v := column.At(k); !math.IsNaN(v) {
			return v, true
		}
	}
	return 0, false
}
