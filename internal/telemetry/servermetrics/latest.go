package servermetrics

import (
	"math"

	"aiperf/internal/exposition"
)

// Latest is a preset's value as the servers told it last: over label sets and endpoints their sum or mean.
func (s *Store) Latest(p *Preset) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range p.Names {
		if s.metrics[name] == nil {
			continue
		}
		total, n := 0.0, 0.0
		for _, e := range s.endpoints {
			for _, t := range e.series {
				if t.name != name || t.kind == exposition.Histogram || t.value.Len() == 0 {
					continue
				}
				if v := t.value.At(t.value.Len() - 1); !math.IsNaN(v) {
					total, n = total+v, n+1
				}
			}
		}
		if p.Mean && n > 0 {
			total /= n
		}
		return total, n > 0
	}
	return 0, false
}

// Latest is Store.Latest of what the collector read.
func (c *Collector) Latest(p *Preset) (float64, bool) { return c.store.Latest(p) }
