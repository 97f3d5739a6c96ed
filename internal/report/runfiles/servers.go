package runfiles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/sorting"
)

// Types of server metrics.
const (
	gauge     = "gauge"
	counter   = "counter"
	histogram = "histogram"
)

// Series is one metric of one server, with one set of labels.
type Series struct {
	Metric, Type, Unit string
	URL                string
	Labels             map[string]string
	Stats              map[string]float64 // of the whole run
	Buckets            []Bucket           // of the whole run: the count of each bucket, not cumulative

	At            []int64   // wall clock, ns
	Value         []float64 // gauge: the value; counter: its rate per second since the previous sample; histogram: the mean since then
	Low, High     []float64 // of a slice of a gauge; nil = samples
	P50, P95, P99 []float64 // of a slice of a histogram, from its buckets; nil = unknown
	last          sample
}

// Bucket holds the number of observations between the previous edge and Edge; the last Edge is infinite.
type Bucket struct {
	Edge  string
	Count float64
}

type sample struct {
	at         int64
	value      float64
	sum, count float64
}

// Key identifies the series by its server and its labels.
func (s *Series) Key() string {
	var b strings.Builder
	b.WriteString(s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		fmt.Fprintf(&b, " %s=%s", name, s.Labels[name])
	}
	return b.String()
}

// readServers reads figures and time slices from the JSON file, and the points of every scrape if the run kept them.
func (r *Run) readServers() ([]Series, error) {
	list, err := r.serverDocument()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines, err := r.serverScrapes(list)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if lines != nil {
		list = lines
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("server_metrics (%s, %s): %w", serverLines, serverFile, ErrNone)
	}
	return list, nil
}

// slice is a time slice of a series in the JSON file.
type slice struct {
	Start   int64              `json:"start_ns"`
	End     int64              `json:"end_ns"`
	Avg     *float64           `json:"avg"`
	Min     *float64           `json:"min"`
	Max     *float64           `json:"max"`
	Rate    *float64           `json:"rate"`
	Buckets map[string]float64 `json:"buckets"`
}

func (r *Run) serverDocument() ([]Series, error) {
	var doc struct {
		Metrics map[string]struct {
			Type   string `json:"type"`
			Unit   string `json:"unit"`
			Series []struct {
				URL     string                     `json:"endpoint_url"`
				Labels  map[string]string          `json:"labels"`
				Stats   map[string]json.RawMessage `json:"stats"`
				Buckets map[string]float64         `json:"buckets"`
				Slices  []slice                    `json:"timeslices"`
			} `json:"series"`
		} `json:"metrics"`
	}
	if err := r.document(serverFile, &doc); err != nil {
		return nil, err
	}
	var list []Series
	for _, name := range slices.Sorted(maps.Keys(doc.Metrics)) {
		m := doc.Metrics[name]
		for _, in := range m.Series {
			s := Series{Metric: name, Type: m.Type, Unit: m.Unit, URL: in.URL, Labels: in.Labels, Stats: map[string]float64{}, Buckets: separateBuckets(in.Buckets)}
			for key, text := range in.Stats {
				var v float64
				if json.Unmarshal(text, &v) == nil {
					s.Stats[key] = v
				}
			}
			for _, one := range in.Slices {
				s.addSlice(one)
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// addSlice adds a time slice as a point at its middle.
func (s *Series) addSlice(one slice) {
	value := one.Avg
	if s.Type == counter {
		value = one.Rate
	}
	if value == nil {
		return
	}
	s.At, s.Value = append(s.At, (one.Start+one.End)/2), append(s.Value, *value)
	switch {
	case s.Type != histogram && one.Min != nil && one.Max != nil:
		s.Low, s.High = append(s.Low, *one.Min), append(s.High, *one.Max)
	case s.Type == histogram:
		within := func(level float64) float64 {
			if v, ok := quantile(separateBuckets(one.Buckets), level); ok {
				return v
			}
			return *value
		}
		s.P50, s.P95, s.P99 = append(s.P50, within(0.5)), append(s.P95, within(0.95)), append(s.P99, within(0.99))
	}
}

// edge parses the upper end of a bucket.
func edge(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}

// separateBuckets converts cumulative buckets to separate ones, sorted by their edges.
func separateBuckets(cumulative map[string]float64) []Bucket {
	list := make([]Bucket, 0, len(cumulative))
	for e, n := range cumulative {
		list = append(list, Bucket{e, n})
	}
	sorting.Sort(list, func(a, b Bucket) int {
		if edge(a.Edge) < edge(b.Edge) {
			return -1
		}
		return 1
	})
	for i := len(list) - 1; i > 0; i-- {
		list[i].Count = max(0, list[i].Count-list[i-1].Count)
	}
	return list
}

// quantile returns the value below which a share of the observations lies, assuming that they are spread evenly in their bucket. In the last bucket,
// which has no upper end, it returns the lower one.
func quantile(list []Bucket, share float64) (float64, bool) {
	total := 0.0
	for _, b := range list {
		total += b.Count
	}
	if total == 0 {
		return 0, false
	}
	below, from := 0.0, 0.0
	for i, b := range list {
		if below+b.Count >= share*total && b.Count > 0 {
			if i == len(list)-1 {
				return from, true
			}
			return from + (edge(b.Edge)-from)*(share*total-below)/b.Count, true
		}
		below, from = below+b.Count, edge(b.Edge)
	}
	return from, true
}

// serverScrapes returns the points of every scrape; types and units come from known.
func (r *Run) serverScrapes(known []Series) ([]Series, error) {
	about := map[string]*Series{} // by metric
	whole := map[string]*Series{} // by metric and labels
	for i := range known {
		about[known[i].Metric], whole[known[i].Metric+" "+known[i].Key()] = &known[i], &known[i]
	}
	index := map[string]*Series{}
	var order []*Series
	err := r.lines(serverLines, func(v *fastjson.Value) error {
		if string(v.GetStringBytes("benchmark_phase")) == "warmup" {
			return nil
		}
		at, url := v.GetInt64("timestamp_ns"), string(v.GetStringBytes("endpoint_url"))
		v.GetObject("metrics").Visit(func(key []byte, samples *fastjson.Value) {
			for _, one := range samples.GetArray() {
				s := Series{Metric: string(key), URL: url, Labels: map[string]string{}}
				one.GetObject("labels").Visit(func(name []byte, value *fastjson.Value) {
					s.Labels[string(name)] = string(value.GetStringBytes())
				})
				id := s.Metric + " " + s.Key()
				if index[id] == nil {
					s.describe(about[s.Metric], whole[id], one.Get("buckets") != nil)
					index[id], order = &s, append(order, &s)
				}
				index[id].addScrape(sample{at, one.GetFloat64("value"), one.GetFloat64("sum"), one.GetFloat64("count")})
			}
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []Series
	for _, s := range order {
		list = append(list, *s)
	}
	return list, nil
}

// describe copies the description of a metric and its series from the JSON file.
func (s *Series) describe(metric, whole *Series, buckets bool) {
	switch {
	case metric != nil:
		s.Type, s.Unit = metric.Type, metric.Unit
	case buckets:
		s.Type = histogram
	case strings.HasSuffix(s.Metric, "_total"):
		s.Type = counter
	default:
		s.Type = gauge
	}
	if whole != nil {
		s.Stats, s.Buckets = whole.Stats, whole.Buckets
	}
}

// addScrape adds a point of a scrape. A counter that was reset adds no rate.
func (s *Series) addScrape(now sample) {
	before := s.last
	s.last = now
	switch s.Type {
	case counter:
		if seconds := float64(now.at-before.at) / 1e9; before.at > 0 && seconds > 0 && now.value >= before.value {
			s.At, s.Value = append(s.At, now.at), append(s.Value, (now.value-before.value)/seconds)
		}
	case histogram:
		if n := now.count - before.count; before.at > 0 && n > 0 {
			s.At, s.Value = append(s.At, now.at), append(s.Value, (now.sum-before.sum)/n)
		}
	default:
		s.At, s.Value = append(s.At, now.at), append(s.Value, now.value)
	}
}

// SortEdges sorts the edges of buckets numerically.
func SortEdges(edges []string) {
	slices.SortFunc(edges, func(a, b string) int { return cmp.Compare(edge(a), edge(b)) })
}
