package otlp

import (
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/protobuf"
)

// temporality says whether a data point covers the time since the start (2) or since the previous one (1).
type temporality uint64

const (
	delta      temporality = 1
	cumulative temporality = 2
)

// preference is the variable of the OTLP exporter specification that selects the temporality.
const preference = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"

// temporalities returns the temporality of histograms and of observed counters for a value of preference: cumulative (the default), delta, lowmemory.
func temporalities(preferred string) (histograms, counters temporality) {
	switch preferred {
	case "delta":
		return delta, delta
	case "lowmemory":
		return delta, cumulative
	}
	return cumulative, cumulative
}

// histogram counts values in buckets, separately for each set of attributes. Its methods may be called from any goroutine.
type histogram struct {
	name, about, unit string
	bounds            []float64 // upper bounds of the buckets, inclusive; the last bucket has none

	mu     sync.Mutex
	series map[string]*points // by encoded attributes
}

// points holds the counts for one set of attributes.
type points struct {
	buckets       []uint64
	count         uint64
	sum, min, max float64
}

func newHistogram(name, unit, about string, bounds []float64) *histogram {
	return &histogram{name: name, about: about, unit: unit, bounds: bounds, series: map[string]*points{}}
}

// record counts a value.
func (h *histogram) record(v float64, with []attribute) {
	if math.IsNaN(v) {
		return
	}
	var key protobuf.Message
	appendAttributes(&key, 9, with)
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.series[string(key)]
	if p == nil {
		p = &points{buckets: make([]uint64, len(h.bounds)+1), min: math.Inf(1), max: math.Inf(-1)}
		h.series[string(key)] = p
	}
	i, _ := slices.BinarySearch(h.bounds, v)
	p.buckets[i]++
	p.count++
	p.sum += v
	p.min, p.max = min(p.min, v), max(p.max, v)
}

// metric encodes the histogram from start to now, in ns. ok is false if it has no value. With delta it is reset.
func (h *histogram) metric(start, now int64, kind temporality) (m protobuf.Message, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.series) == 0 {
		return nil, false
	}
	var data protobuf.Message
	for key, p := range h.series {
		var point, counts, bounds protobuf.Message
		point.Fixed64(2, uint64(start))
		point.Fixed64(3, uint64(now))
		point.Fixed64(4, p.count)
		point.Double(5, p.sum)
		for _, n := range p.buckets {
			counts = appendFixed(counts, n)
		}
		point.Bytes(6, counts)
		for _, b := range h.bounds {
			bounds = appendFixed(bounds, math.Float64bits(b))
		}
		point.Bytes(7, bounds)
		point = append(point, key...)
		point.Double(11, p.min)
		point.Double(12, p.max)
		data.Bytes(1, point)
	}
	data.Varint(2, uint64(kind))
	if kind == delta {
		clear(h.series)
	}
	m = described(h.name, h.unit, h.about)
	m.Bytes(9, data)
	return m, true
}

// described starts a metric with its description.
func described(name, unit, about string) (m protobuf.Message) {
	m.StringIfAny(1, name)
	m.StringIfAny(2, about)
	m.StringIfAny(3, unit)
	return m
}

// observed is a number that is read when metrics are delivered.
type observed struct {
	value int64
	with  []attribute
}

// counter encodes increasing numbers. before holds the numbers of the previous delivery, by encoded attributes; with delta the metric is the increase.
func counter(name, unit, about string, start, now int64, kind temporality, list []observed, before map[string]int64) protobuf.Message {
	var data protobuf.Message
	for _, o := range list {
		value := o.value
		if kind == delta {
			var key protobuf.Message
			key.StringIfAny(1, name)
			appendAttributes(&key, 7, o.with)
			value -= before[string(key)]
			before[string(key)] = o.value
		}
		data.Bytes(1, number(start, now, value, o.with))
	}
	data.Varint(2, uint64(kind))
	data.Varint(3, 1) // monotonic
	m := described(name, unit, about)
	m.Bytes(7, data)
	return m
}

// gauge encodes a number that can rise and fall.
func gauge(name, unit, about string, now int64, o observed) protobuf.Message {
	var data protobuf.Message
	data.Bytes(1, number(0, now, o.value, o.with))
	m := described(name, unit, about)
	m.Bytes(5, data)
	return m
}

// number encodes a data point; start 0 = none.
func number(start, now, value int64, with []attribute) (m protobuf.Message) {
	if start != 0 {
		m.Fixed64(2, uint64(start))
	}
	m.Fixed64(3, uint64(now))
	m.Fixed64(6, uint64(value))
	appendAttributes(&m, 7, with)
	return m
}

// appendFixed appends an element of a packed list of 64-bit numbers.
func appendFixed(m protobuf.Message, v uint64) protobuf.Message {
	return append(m, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
}

// wall returns the wall clock, in ns.
func wall() int64 { return time.Now().UnixNano() }
