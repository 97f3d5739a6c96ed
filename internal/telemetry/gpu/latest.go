package gpu

import (
	"math"

	"aiperf/internal/metric"
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
	last := map[string]float64{}
	for i := range s.fields.list {
		for k := t.values[i].Len() - 1; k >= 0; k-- {
			if v := t.values[i].At(k); !math.IsNaN(v) {
				last[s.fields.list[i].Tag] = v
				break
			}
		}
	}
	return last
}
