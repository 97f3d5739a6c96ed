package gpu

import (
	"math"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/telemetry"
)

// Live is one GPU during a run: its statistics so far, and its latest values by tag.
type Live struct {
	Endpoint string
	metric.GPU
	Current map[string]float64
}

// Live returns the GPUs from the samples within a window. It processes all samples, so it should only be called while somebody watches, and not every
// second.
func (c *Collector) Live(w metric.Window) (list []Live) {
	for _, source := range c.configured {
		for _, g := range c.series.Figures(source, w) {
			list = append(list, Live{Endpoint: telemetry.Name(source), GPU: g, Current: c.series.latest(source, g.Index)})
		}
	}
	return list
}

// Sources returns the configured sources and those that answered.
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

// Latest returns the latest values of a figure over the GPUs: their sum, or their mean; false = no value.
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

// last returns the last value of a column that is not NaN.
func last(column *stats.Column) (float64, bool) {
	for k := column.Len() - 1; k >= 0; k-- {
		if v := column.At(k); !math.IsNaN(v) {
			return v, true
		}
	}
	return 0, false
}
