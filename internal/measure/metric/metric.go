// Package metric defines every number of a report as data. It converts records to one row of values per request and columns of values per run. From
// these it computes distributions, rates, curves over time and time slices. Definitions: measurement, metrics.json.
package metric

import (
	"math"
	"slices"
)

// Metric is one definition. Values are stored in Unit and shown in Display.
type Metric struct {
	Tag    string // name in files and flags
	Header string // name in tables
	Short  string // name where space is scarce; "" = none

	Unit    string // of the values that record and derive return
	Display string // unit in tables and files; the same as Unit, or one that Factor can convert to
	Kind    Kind
	Integer bool // values of records are whole numbers in Unit
	Flags   Flags

	Group  string // console table: effective, active, usage, default; "" = not in the console
	Order  int    // row in the table; 0 = after the numbered ones
	Better Direction

	InRecords bool // the records JSONL contains a value per request
	Place     int  // position in All

	record func(*requestFacts) float64 // value of one request, NaN = absent
	derive func(*totals) float64       // value of a run or a slice, NaN = absent
	gaps   bool                        // one value per gap between content messages
	base   string                      // the metric that an adjustment is based on
}

// Kind is the type of data from which a metric is computed.
type Kind uint8

// The kinds.
const (
	Record     Kind = iota // one value (or list) per request, reported as a distribution
	Derived                // one value of the run
	Sweep                  // a curve over time
	Adjustment             // percentiles in which every failure is an infinite value
	External               // not measured from requests: the power of GPUs, the network's round-trip time
)

// Direction is the direction of good values.
type Direction int8

// The directions.
const (
	Neither Direction = 0
	Larger  Direction = 1
	Smaller Direction = -1
)

// Flags determine where a metric applies.
type Flags uint32

// The flags.
const (
	Streaming    Flags = 1 << iota // needs a streaming run
	Tokens                         // needs an endpoint that produces tokens
	Input                          // needs an endpoint that tokenizes its input
	Image                          // needs an endpoint with image input
	Audio                          // needs an endpoint with audio input
	VideoOutput                    // needs an endpoint that makes videos
	Goodput                        // needs service level objectives
	UsageDiff                      // needs client-side token counts
	HTTPTrace                      // needs socket instants
	Schedule                       // needs a fixed schedule
	NoAccuracy                     // not in accuracy mode
	ErrorOnly                      // over failed requests, not on the console
	EveryRecord                    // also over failed requests
	Adjusted                       // has an error-adjusted companion
	WholeRun                       // not computed for time slices
	Experimental                   // hidden from every output
	Internal                       // hidden from every output
)

// Hidden reports whether no output shows the metric.
func (m *Metric) Hidden() bool { return m.Flags&(Experimental|Internal) != 0 }

// Factor returns the divisor that converts a value from Unit to Display.
func (m *Metric) Factor() float64 {
	switch {
	case m.Unit == m.Display:
		return 1
	case m.Unit == "ns" && m.Display == "ms":
		return 1e6
	case m.Unit == "ns" && m.Display == "sec":
		return 1e9
	case m.Unit == "sec" && m.Display == "ms":
		return 1e-3
	case m.Unit == "B" && m.Display == "KB":
		return 1024
	}
	return 0
}

// Gaps reports whether the metric has a list of values per request.
func (m *Metric) Gaps() bool { return m.gaps }

// The definitions and their indexes. They are filled once, before main, and then read only.
var (
	table []Metric
	index map[string]int // position by tag
)

func init() {
	table = definitions()
	for i, platform := range Platforms {
		table = insert(table, "replay_send_schedule_offset", efficiency(platform, 700+100*i))
	}
	index = make(map[string]int, len(table))
	for i := range table {
		index[table[i].Tag], table[i].Place = i, i
	}
}

// insert inserts definitions before the one with a tag.
func insert(list []Metric, before string, more []Metric) []Metric {
	at := slices.IndexFunc(list, func(m Metric) bool { return m.Tag == before })
	return slices.Insert(list, at, more...)
}

// All returns the definitions in the order of the exports.
func All() []*Metric {
	all := make([]*Metric, len(table))
	for i := range table {
		all[i] = &table[i]
	}
	return all
}

// Lookup returns the definition with a tag.
func Lookup(tag string) (*Metric, bool) {
	i, ok := index[tag]
	if !ok {
		return nil, false
	}
	return &table[i], true
}

// Stat is one statistic of a metric, in the order of the summary JSON.
type Stat uint8

// The statistics.
const (
	Avg Stat = iota
	P1
	P5
	P10
	P25
	P50
	P75
	P90
	P95
	P99
	Min
	Max
	Std
	Count
	Sum
	Stats // number of statistics
)

// statNames lists the keys in the order of Stat.
var statNames = [Stats]string{"avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std", "count", "sum"}

// String returns the statistic's key in files.
func (s Stat) String() string { return statNames[s] }

// StatByName returns the statistic with a key in files.
func StatByName(name string) (Stat, bool) {
	i := slices.Index(statNames[:], name)
	return Stat(max(i, 0)), i >= 0
}

// Result is a metric of a run with its statistics in the display unit. NaN = the statistic does not exist or is not finite.
type Result struct {
	*Metric
	Values [Stats]float64
}

// Has reports whether a statistic exists.
func (r *Result) Has(s Stat) bool { return !math.IsNaN(r.Values[s]) && !math.IsInf(r.Values[s], 0) }

// Distribution reports whether the result has percentiles.
func (r *Result) Distribution() bool {
	for s := P1; s <= P99; s++ {
		if r.Has(s) {
			return true
		}
	}
	return false
}

// noStats returns a Result's values with nothing known.
func noStats() (v [Stats]float64) {
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}
