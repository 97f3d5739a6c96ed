package gpu

import (
	"math"
	"sync"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// Series stores the values of GPUs for the statistics of the run. The methods may be called from any goroutine.
type Series struct {
	fields *Fields

	mu   sync.Mutex
	gpus map[gpuKey]*gpuTrack
}

type gpuKey struct {
	source string
	index  int
}

// gpuTrack holds the values of one GPU.
type gpuTrack struct {
	device Device // latest description
	at     []int64
	values []stats.Column // by field, one value per instant
}

// NewSeries returns an empty Series.
func NewSeries(f *Fields) *Series { return &Series{fields: f, gpus: map[gpuKey]*gpuTrack{}} }

// Add adds a sample.
func (s *Series) Add(one *Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := gpuKey{one.Source, one.Index}
	t := s.gpus[key]
	if t == nil {
		t = &gpuTrack{values: make([]stats.Column, len(s.fields.list))}
		s.gpus[key] = t
	}
	t.device = one.Device
	t.at = append(t.at, one.At)
	for i, v := range one.Values {
		t.values[i].Append(v)
	}
}

// Figures returns the statistics of every GPU of a source within a window, by ascending index.
func (s *Series) Figures(source string, w metric.Window) []metric.GPU {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []metric.GPU
	for key, t := range s.gpus {
		if key.source != source {
			continue
		}
		d := t.device
		g := metric.GPU{Index: d.Index, Name: d.Model, UUID: d.UUID, Platform: d.Platform, Hostname: d.Hostname, Namespace: d.Namespace, Pod: d.PodName}
		for i := range s.fields.list {
			if m, ok := t.figure(&s.fields.list[i], &t.values[i], w); ok {
				g.Metrics = append(g.Metrics, m)
			}
		}
		if len(g.Metrics) > 0 {
			out = append(out, g)
		}
	}
	sorting.Sort(out, func(a, b metric.GPU) int { return a.Index - b.Index })
	return out
}

// figure returns the statistics of a field in a window; false = it has no value there.
func (t *gpuTrack) figure(f *Field, column *stats.Column, w metric.Window) (metric.GPUMetric, bool) {
	m := metric.GPUMetric{Tag: f.Tag, Name: f.Name, Unit: f.Unit, Values: metric.NoStats()}
	var inside []float64
	reference := math.NaN()
	for i, at := range t.at {
		v := column.At(i)
		switch {
		case math.IsNaN(v) || at > w.To:
		case at < w.From:
			reference = v
		default:
			inside = append(inside, v)
		}
	}
	if len(inside) == 0 {
		return m, false
	}
	if f.Counter {
		if math.IsNaN(reference) {
			reference = inside[0]
		}
		m.Values[metric.Avg] = max(inside[len(inside)-1]-reference, 0)
		return m, true
	}
	std := stats.SampleStd(inside)
	d := stats.Describe(inside)
	if d.Min == d.Max {
		std = 0
	}
	m.Values[metric.Avg], m.Values[metric.Min], m.Values[metric.Max], m.Values[metric.Std], m.Values[metric.Sum] = d.Avg, d.Min, d.Max, std, d.Sum
	for k, p := range d.P {
		m.Values[metric.P1+metric.Stat(k)] = p
	}
	m.Values[metric.Count] = float64(d.Count)
	return m, true
}

// PerSecond returns a figure by second since 1970: in each second the mean of a GPU's readings, over all GPUs their sum or mean.
func (c *Collector) PerSecond(tag string, mean bool) map[int64]float64 {
	s := c.series
	s.mu.Lock()
	defer s.mu.Unlock()
	field, ok := s.fields.byTag[tag]
	if !ok {
		return nil
	}
	total, gpus := map[int64]float64{}, map[int64]float64{}
	for _, t := range s.gpus {
		sum, n := map[int64]float64{}, map[int64]float64{}
		for i, at := range t.at {
			if v := t.values[field].At(i); !math.IsNaN(v) {
				sum[at/1e9] += v
				n[at/1e9]++
			}
		}
		for second := range sum {
			total[second] += sum[second] / n[second]
			gpus[second]++
		}
	}
	if mean {
		for second := range total {
			total[second] /= gpus[second]
		}
	}
	return total
}
