// Package objective parses limits on metrics. --slo, --goodput, --search-sla, --objective and --fail-if share one grammar:
//
//	METRIC[:STAT] < VALUE[UNIT]    time_to_first_token:p99<200ms
//	STAT(METRIC) < VALUE[UNIT]     p99(ttft)<0.2s
package objective

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/measure/metric"
)

// ErrorRate is the share of failed requests in percent. It is not in the table of metrics.
const ErrorRate = "error_rate"

// Limit compares a statistic of a metric with a value.
type Limit struct {
	Text  string  // the original text
	Tag   string  // tag of a metric, or ErrorRate
	Stat  string  // avg, min, max, std, or p with a number; "" = not given
	Op    string  // <, <=, > or >=
	Value float64 // in the display unit of the metric; for ErrorRate in percent
}

// ShortNames maps common short names to metrics, including vLLM's tpot and e2el.
var ShortNames = map[string]string{
	"ttft": "time_to_first_token", "ttst": "time_to_second_token", "ttfo": "time_to_first_output_token", "itl": "inter_token_latency", "tpot": "inter_token_latency",
	"icl": "inter_chunk_latency", "e2e": "request_latency", "e2el": "request_latency", "latency": "request_latency", "tps": "output_token_throughput",
	"tps_user": "output_token_throughput_per_user", "rps": "request_throughput", "qps": "request_throughput", "isl": "input_sequence_length",
	"osl": "output_sequence_length", "errors": ErrorRate,
}

var (
	plainForm = lazyregexp.New(`^([A-Za-z0-9_-]+)(?::([A-Za-z0-9.]+))?(<=|>=|<|>)(.+)$`)
	callForm  = lazyregexp.New(`^([A-Za-z0-9.]+)\(([A-Za-z0-9_-]+)\)(<=|>=|<|>)(.+)$`)
	valueForm = lazyregexp.New(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(%|[a-zA-Zµ][a-zA-Z/µ]*)?$`)
)

// Parse parses a limit. Errors state what is wrong, what is allowed, and what to write.
func Parse(text string) (Limit, error) { return ParseLike(text, "<") }

// ParseLike is Parse, but op is the operator in the examples of its errors.
func ParseLike(text, op string) (Limit, error) {
	bare := strings.Join(strings.Fields(text), "")
	m := plainForm.FindStringSubmatch(bare)
	if m == nil {
		if m = callForm.FindStringSubmatch(bare); m != nil {
			m[1], m[2] = m[2], m[1]
		}
	}
	if m == nil {
		return Limit{}, fmt.Errorf("%q is not a limit; write METRIC:STAT%[2]sVALUE, for example ttft:p99%[2]s200ms or error_rate%[2]s1%%", text, op)
	}
	l := Limit{Text: strings.TrimSpace(text), Op: m[3]}
	var err error
	if l.Tag, err = Metric(m[1]); err != nil {
		return l, fmt.Errorf("%q: %w", text, err)
	}
	if l.Stat, err = statistic(m[2]); err != nil {
		return l, fmt.Errorf("%q: %w", text, err)
	}
	if l.Value, err = l.ParseValue(m[4]); err != nil {
		return l, fmt.Errorf("%q: %w", text, err)
	}
	return l, nil
}

// Metric returns the tag of a metric, given by its tag or its short name.
func Metric(name string) (string, error) {
	tag := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if long := ShortNames[tag]; long != "" {
		return long, nil
	}
	if _, known := metric.Lookup(tag); known || tag == ErrorRate {
		return tag, nil
	}
	names := append([]string{ErrorRate}, slices.Sorted(maps.Keys(ShortNames))...)
	for _, one := range metric.All() {
		names = append(names, one.Tag)
	}
	hint := "aiperf help metrics lists them"
	if near := suggest.Name(tag, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", fmt.Errorf("there is no metric %s; %s", name, hint)
}

// statistic returns the name of a statistic. It also accepts mean and median.
func statistic(name string) (string, error) {
	name = strings.ToLower(name)
	switch name {
	case "", "avg", "min", "max", "std":
		return name, nil
	case "mean":
		return "avg", nil
	case "median":
		return "p50", nil
	}
	if rest, ok := strings.CutPrefix(name, "p"); ok {
		if q, err := strconv.ParseFloat(rest, 64); err == nil && q > 0 && q < 100 {
			return name, nil
		}
	}
	return "", fmt.Errorf("there is no statistic %s; statistics are avg, min, max, std and p1 to p99, for example p95", name)
}

// ParseValue parses a value with an optional unit and converts it to the display unit of the metric.
func (l *Limit) ParseValue(text string) (float64, error) {
	m := valueForm.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a number; write one with or without a unit, for example %s", text, l.example())
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not a number in range; write a smaller one, for example %s", m[1], l.example())
	}
	own := l.Unit()
	switch unit := m[2]; {
	case unit == "" || strings.EqualFold(unit, own):
		return v, nil
	default:
		a, ok1 := setting.UnitSeconds(unit)
		b, ok2 := setting.UnitSeconds(own)
		if !ok1 || !ok2 {
			if own == "" {
				own = "plain numbers"
			}
			return 0, fmt.Errorf("limits of %s are in %s, not in %s; write for example %s", l.Tag, own, unit, l.example())
		}
		return v * a / b, nil
	}
}

// example returns an example of a value of the metric.
func (l *Limit) example() string {
	switch l.Unit() {
	case "ms":
		return "200ms"
	case "sec":
		return "2s"
	case "%":
		return "1%"
	}
	return "5"
}

// Unit returns the display unit of the metric.
func (l *Limit) Unit() string {
	if m, ok := metric.Lookup(l.Tag); ok {
		return m.Display
	}
	return "%"
}

// Good reports whether the limit describes a good run: values below it if less is better, values above it if more is better. certain is false for a
// metric without a better direction.
func (l *Limit) Good() (good, certain bool) {
	better := metric.Smaller
	if m, ok := metric.Lookup(l.Tag); ok {
		better = m.Better
	}
	switch better {
	case metric.Smaller:
		return l.Op[0] == '<', true
	case metric.Larger:
		return l.Op[0] == '>', true
	}
	return false, false
}

// Opposite returns the limit that holds whenever this one does not, with its unit.
func (l *Limit) Opposite() string {
	stat := ""
	if l.Stat != "" {
		stat = ":" + l.Stat
	}
	op := map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[l.Op]
	return l.Tag + stat + op + strconv.FormatFloat(l.Value, 'g', -1, 64) + l.Unit()
}

// Words splits a text into limits at blanks. Blanks around operators do not separate limits.
func Words(text string) []string { return strings.Fields(aroundOperator.ReplaceAllString(text, "$1")) }

var aroundOperator = lazyregexp.New(`\s*(<=|>=|<|>)\s*`)
