package explanation

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"sort"
	"strings"

	"aiperf/internal/report/runfiles"
	"aiperf/internal/telemetry/servermetrics"
)

// oldest is how many sampling intervals a sample is used for, and shortestAge the least time, in ns.
const (
	oldest      = 3
	shortestAge = 1e9
)

// partsOfNames are parts of the names of further server metrics that may say why requests are slow, besides the common gauges.
var partsOfNames = []string{"preempt", "retract", "evict", "swapped", "batch_size", "batch_current_size", "waiting", "queue", "pending", "deferred", "cache_hit_rate"}

// samples is one metric of one server over time: the sum or mean of its label sets.
type samples struct {
	at    []int64
	value []float64
	every int64 // usual time between samples, ns
	age   int64 // for which a sample is used, ns
}

func newSamples(at []int64, value []float64) *samples {
	var gaps []float64
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, float64(at[i]-at[i-1]))
	}
	s := &samples{at: at, value: value, age: shortestAge}
	if gaps != nil {
		slices.Sort(gaps)
		s.every = int64(percentile(gaps, 50))
		s.age = max(shortestAge, oldest*s.every)
	}
	return s
}

// gauges adds the state of the servers at the origin of each request.
func (c *collector) gauges() error {
	series, err := c.run.Servers()
	if err != nil && !isMissing(err) {
		return err
	}
	var names []string
	by := map[string][]*runfiles.Series{}
	for i := range series {
		if s := &series[i]; (s.Type == "gauge" || s.Type == "counter") && wanted(s) && len(s.At) > 1 {
			if by[s.Metric] == nil {
				names = append(names, s.Metric)
			}
			by[s.Metric] = append(by[s.Metric], s)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c.gauge(name, by[name])
	}
	if len(names) > 0 {
		return nil
	}
	return c.seconds(len(series) > 0)
}

// seconds adds the common gauges of the timeline, one value a second, for runs without every scrape.
func (c *collector) seconds(scraped bool) error {
	s, err := c.run.Seconds()
	if err != nil && !isMissing(err) {
		return err
	}
	found := false
	for _, p := range servermetrics.Presets {
		if s == nil {
			break
		}
		v, ok := s.Figure(p.Key)
		if !ok {
			continue
		}
		found = true
		verb, phrase := c.when()
		f := fact{name: p.Key, label: secondLabels[p.Key], unit: "mean of the second", what: phrase + " in a second with " + secondLabels[p.Key] + " above 0", verb: verb}
		c.number(f, func(k, _ int) float64 {
			i := sort.Search(len(s.At), func(i int) bool { return s.At[i] > c.origin[k] }) - 1
			if i < 0 || c.origin[k]-s.At[i] >= 1e9 {
				return math.NaN()
			}
			return v[i]
		})
	}
	switch {
	case found || scraped:
		c.missing("each scrape of the server's metrics, such as preemptions (" + spell("server_metrics.formats") + " json csv jsonl)")
	default:
		c.missing("metrics of the server, such as its queue (" + spell("server_metrics.urls") + ")")
	}
	return nil
}

// secondLabels name the gauges of the timeline.
var secondLabels = map[string]string{
	servermetrics.Queue.Key: "requests waiting in the server", servermetrics.Running.Key: "requests running in the server", servermetrics.Cache.Key: "KV cache in use",
}

// wanted reports whether a metric of a server may say why requests are slow.
func wanted(s *runfiles.Series) bool {
	for _, p := range servermetrics.Presets {
		for _, from := range p.From {
			if from.Name == s.Metric && (from.Label == "" || s.Labels[from.Label] == from.Value) {
				return true
			}
		}
	}
	name := strings.ToLower(s.Metric)
	return !strings.HasSuffix(name, "_created") && slices.ContainsFunc(partsOfNames, func(part string) bool { return strings.Contains(name, part) })
}

// isShare reports whether several label sets of a metric are averaged instead of added.
func isShare(name string) bool {
	if slices.ContainsFunc(servermetrics.Cache.From, func(s servermetrics.Source) bool { return s.Name == name }) {
		return true
	}
	return strings.Contains(name, "rate") || strings.Contains(name, "perc") || strings.Contains(name, "ratio")
}

// gauge adds one metric of the servers.
func (c *collector) gauge(name string, series []*runfiles.Series) {
	hosts := map[string][]*runfiles.Series{}
	var order []string
	for _, s := range series {
		h := host(s.URL)
		if hosts[h] == nil {
			order = append(order, h)
		}
		hosts[h] = append(hosts[h], s)
	}
	all := map[string]*samples{}
	for h, list := range hosts {
		all[h] = combined(list, isShare(name))
	}
	urls := c.urls()
	separate := false // every request is compared by its own server
	// of returns the servers whose metrics belong to a request: its own server, or all of them.
	of := func(i int) []string {
		if k := c.q.URL[i]; len(urls) > 1 && k < len(urls) && all[host(urls[k])] != nil {
			separate = true
			return []string{host(urls[k])}
		}
		return order
	}
	verb, phrase := c.when()
	f := fact{name: name, label: name, unit: series[0].Unit, what: phrase + " while " + name + " was above 0", verb: verb}
	counter := series[0].Type == "counter"
	if counter {
		f.label, f.what = name+", rate", "saw "+name+" rise soon after the start"
		f.unit, f.verb = "1/s", "did"
	}
	c.number(f, func(k, i int) float64 {
		sum, n := 0.0, 0.0
		for _, h := range of(i) {
			v := all[h].last(c.origin[k])
			if counter {
				v = all[h].most(c.origin[k], c.origin[k]+int64(min(c.window, float64(all[h].every))))
			}
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		switch {
		case n == 0:
			return math.NaN()
		case isShare(name):
			return sum / n
		}
		return sum
	})
	if separate {
		c.withinServers(len(urls))
	}
}

// host returns host and port of a URL.
func host(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Host
	}
	rest, _, _ := strings.Cut(text, "/")
	return rest
}

// combined adds or averages the label sets of a server, by scrape.
func combined(list []*runfiles.Series, mean bool) *samples {
	type point struct {
		at   int64
		v, n float64
	}
	by := map[int64]*point{}
	var points []*point
	for _, s := range list {
		for i, at := range s.At {
			if by[at] == nil {
				by[at] = &point{at: at}
				points = append(points, by[at])
			}
			by[at].v, by[at].n = by[at].v+s.Value[i], by[at].n+1
		}
	}
	slices.SortFunc(points, func(a, b *point) int { return cmp.Compare(a.at, b.at) })
	var at []int64
	var value []float64
	for _, p := range points {
		if mean {
			p.v /= p.n
		}
		at, value = append(at, p.at), append(value, p.v)
	}
	return newSamples(at, value)
}

// last returns the last sample before or at an instant; NaN if it is too old.
func (s *samples) last(t int64) float64 {
	k := sort.Search(len(s.at), func(i int) bool { return s.at[i] > t }) - 1
	if k < 0 || t-s.at[k] > s.age {
		return math.NaN()
	}
	return s.value[k]
}

// most returns the highest of the rates between scrapes whose intervals touch a stretch of time.
func (s *samples) most(from, to int64) float64 {
	a := sort.Search(len(s.at), func(i int) bool { return s.at[i] > from }) // its interval ends after from
	out := math.NaN()
	for k := a; k < len(s.at) && (k == a || s.at[k-1] < to); k++ {
		if k > 0 && s.at[k]-s.at[k-1] > s.age {
			break
		}
		if math.IsNaN(out) || s.value[k] > out {
			out = s.value[k]
		}
	}
	return out
}

// gpuFacts are the figures of GPUs that may say why requests are slow. Violations are times in which a limit slowed the GPU.
var gpuFacts = []struct {
	part, label, unit string
	rise              bool
}{
	{"_sm_clock", "GPU clock", "MHz", false},
	{"_gfx_clock", "GPU clock", "MHz", false},
	{"_memory_clock", "GPU memory clock", "MHz", false},
	{"_power_usage", "GPU power", "W", false},
	{"amd_power", "GPU power", "W", false},
	{"_gpu_utilization", "GPU utilization", "%", false},
	{"_gfx_activity", "GPU utilization", "%", false},
	{"_temperature", "GPU temperature", "°C", false},
	{"_violation", "GPU slowed by a limit", "", true},
	{"throttle", "GPU throttling", "", false},
}

// gpus adds the state of the GPUs at the origin of each request: the mean of all GPUs.
func (c *collector) gpus() error {
	g, err := c.run.GPUs()
	if err != nil {
		if isMissing(err) {
			c.missing("GPU metrics (" + spell("gpu_telemetry.urls") + ")")
			return nil
		}
		return err
	}
	for _, tag := range g.Tags() {
		for _, of := range gpuFacts {
			if !strings.Contains(tag, of.part) {
				continue
			}
			at, v := g.Mean(tag)
			f := fact{name: tag, label: of.label + " (" + tag + ")", unit: of.unit}
			if of.rise {
				verb, phrase := c.when()
				at, v = rises(at, v)
				f.what, f.verb = phrase+" while "+tag+" rose", verb
			}
			s := newSamples(at, v)
			c.number(f, func(k, _ int) float64 { return s.last(c.origin[k]) })
			break
		}
	}
	return nil
}

// rises converts a counter to its growth since the previous sample.
func rises(at []int64, v []float64) ([]int64, []float64) {
	var t []int64
	var out []float64
	for i := 1; i < len(at); i++ {
		t, out = append(t, at[i]), append(out, max(0, v[i]-v[i-1]))
	}
	return t, out
}
