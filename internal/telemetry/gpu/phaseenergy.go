package gpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// nearEnd is how far from the ends of the window, in ns, the readings may be whose increase is reported for a GPU: then it is also the GPU's part of the
// energy, so that the total is the sum of the reported figures (telemetry, section 5).
const nearEnd = 666e6

// closeCover is the largest difference between the time that readings of an energy counter cover and the window, as a share of the window, at which
// the increase of the counter is the energy of the window.
const closeCover = 0.02

// leastCover is the smallest share of the window that readings of an energy counter have to cover.
const leastCover = 0.5

// counted is a value of a counter at an instant.
type counted struct {
	at    int64
	value float64
}

// Energy returns the energy that the GPUs of each platform used within a window, in J. An exporter can read its counters less often than it is asked,
// fail for a time, or lose a counter when a driver restarts, so the increase between two readings can belong to another time than the window. If the
// reported readings are not near its ends, the increase is scaled to the window if it belongs to half of it or more. Otherwise the energy of a GPU is
// its mean power times the window, or the increase if the power is unknown, and the text names the GPU. A platform without any energy counter is missing.
// Figures of GPUs also have readings up to grace (ns) after the window.
func (s *Series) Energy(w metric.Window, grace int64) (energy map[string]float64, text string) {
	if w.To <= w.From {
		return nil, ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	energy = map[string]float64{}
	var estimated []string
	counters := map[string]bool{} // platforms that have one
	for key, t := range s.gpus {
		tags := energyTags[t.device.Platform]
		counter, power := s.column(t, tags.counter), s.column(t, tags.power)
		joules, exact := t.joules(counter, power, w, grace)
		if math.IsNaN(joules) {
			continue
		}
		energy[t.device.Platform] += joules
		if counter != nil && len(t.readings(counter)) > 0 {
			counters[t.device.Platform] = true
		}
		if !exact {
			estimated = append(estimated, fmt.Sprintf("GPU %d of %s", key.index, key.source))
		}
	}
	for platform := range energy {
		if !counters[platform] {
			delete(energy, platform)
		}
	}
	if len(energy) == 0 {
		return energy, ""
	}
	return energy, estimatedText(estimated)
}

// mostNamed is the largest number of GPUs that a warning names.
const mostNamed = 4

// estimatedText returns the warning about GPUs whose energy was estimated; "" = there is none.
func estimatedText(gpus []string) string {
	if len(gpus) == 0 {
		return ""
	}
	slices.Sort(gpus)
	names := strings.Join(gpus[:min(len(gpus), mostNamed)], ", ")
	if len(gpus) > mostNamed {
		names += fmt.Sprintf(" and %d more", len(gpus)-mostNamed)
	}
	return "no energy counter covers the run for " + names + ": the energy is estimated from the power"
}

// energyTags holds the fields that give the energy of a platform's GPUs.
var energyTags = map[string]struct{ counter, power string }{
	"nvidia": {"nvidia_energy_consumption", "nvidia_power_usage"},
	"amd":    {"amd_energy_consumption", "amd_power"},
}

// column returns the values of a field, nil if the field is not in the table.
func (s *Series) column(t *gpuTrack, tag string) *stats.Column {
	if i, ok := s.fields.byTag[tag]; ok {
		return &t.values[i]
	}
	return nil
}

// joules returns the energy of one GPU within a window, NaN if it is unknown. exact is false if no counter covers the window.
func (t *gpuTrack) joules(counter, power *stats.Column, w metric.Window, grace int64) (joules float64, exact bool) {
	length := float64(w.To - w.From)
	var list []counted
	if counter != nil {
		list = t.readings(counter)
	}
	if increase := reported(list, w, grace); increase > 0 {
		return increase * joulesPerMJ, true
	}
	increase, ns := cover(list[min(1, len(list)):], w) // the first page may be much older than its reading, because an exporter keeps a page for a while
	switch {
	case increase > 0 && math.Abs(ns-length) <= closeCover*length:
		return increase * joulesPerMJ, true
	case increase > 0 && ns >= leastCover*length:
		return increase * joulesPerMJ * length / ns, true
	}
	if watts := t.mean(power, w); !math.IsNaN(watts) {
		return watts * length / 1e9, false
	}
	increase, _ = cover(list, w)
	return increase * joulesPerMJ, false
}

// mean returns the mean of the readings of a column within a window, NaN without any.
func (t *gpuTrack) mean(column *stats.Column, w metric.Window) float64 {
	if column == nil {
		return math.NaN()
	}
	sum, n := 0.0, 0
	for i, at := range t.at {
		if v := column.At(i); !math.IsNaN(v) && at >= w.From && at <= w.To {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// readings returns the readings of a counter in their order.
func (t *gpuTrack) readings(column *stats.Column) (list []counted) {
	for i, at := range t.at {
		if v := column.At(i); !math.IsNaN(v) {
			list = append(list, counted{at, v})
		}
	}
	return list
}

// reported returns the increase of a counter that the statistics of the GPU state, from the last reading before the window to the last one until grace (ns)
// after its end. It is NaN if the counter went back, or if one of these readings is not near its end of the window.
func reported(list []counted, w metric.Window, grace int64) (increase float64) {
	from, to := 0, -1
	for i, r := range list {
		if r.at < w.From {
			from = i
		}
		if r.at <= w.To+grace {
			to = i
		}
	}
	if to <= from || abs(list[from].at-w.From) > nearEnd || abs(list[to].at-w.To) > nearEnd {
		return math.NaN()
	}
	return increaseOf(list[from : to+1])
}

// increaseOf returns the increase of a counter from the first to the last of its readings, NaN if it went back.
func increaseOf(list []counted) float64 {
	if !slices.IsSortedFunc(list, func(a, b counted) int { return cmp.Compare(a.value, b.value) }) {
		return math.NaN()
	}
	return list[len(list)-1].value - list[0].value
}

// cover returns the increase of a counter between the readings that are closest to the start and the end of a window, and the time between them in ns.
// The increase is NaN if the counter went back or has fewer than two readings.
func cover(list []counted, w metric.Window) (increase, ns float64) {
	if len(list) < 2 {
		return math.NaN(), 0
	}
	from := closest(list, w.From)
	to := closest(list, w.To)
	return increaseOf(list[from : to+1]), float64(list[to].at - list[from].at)
}

// closest returns the index of the reading that is closest to an instant.
func closest(list []counted, at int64) int {
	best := 0
	for i := range list {
		if abs(list[i].at-at) < abs(list[best].at-at) {
			best = i
		}
	}
	return best
}

func abs(ns int64) int64 { return max(ns, -ns) }
