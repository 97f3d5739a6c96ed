// Package verify checks the summary of a run: whether it is complete, whether its numbers agree with each other, and whether they agree with the
// records next to it. It shares no code with the writer of the summary.
package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/measure/metric"
)

// MaxDocument is the size of the largest summary that is read, in bytes.
const MaxDocument = 1 << 30

// summary is a summary JSON that is being checked.
type summary struct {
	path    string
	values  map[string]any
	lines   map[string]int // line numbers of "key", "key.statistic" and "warmup_metrics.key.statistic"
	version string         // of the schema; "" = written before versions existed
	faults  []string
}

// Summary lists the faults of a run's summary JSON, including disagreements with the records next to it. It calls tick for every record that it reads.
// For a file that is not a JSON object it returns nothing.
func Summary(path string, tick func()) (faults []string) {
	text, err := boundedfile.ReadAll(path, MaxDocument)
	if err != nil {
		return nil
	}
	s := parse(path, text)
	if s == nil {
		return nil
	}
	s.keys()
	s.statistics()
	s.follow(tick)
	return s.faults
}

func parse(path string, text []byte) *summary {
	s := &summary{path: path, lines: map[string]int{}}
	if json.Unmarshal(text, &s.values) != nil || s.values == nil {
		return nil
	}
	members(text, 1, "", 3, s.lines)
	s.version, _ = s.values["schema_version"].(string)
	return s
}

// members stores the line of every key of an object and, down to depth, of the objects in it.
func members(text []byte, line int, path string, depth int, lines map[string]int) {
	in, done := json.NewDecoder(bytes.NewReader(text)), 0
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return
	}
	to := func(at int) int {
		line += bytes.Count(text[done:at], []byte{'\n'})
		done = at
		return line
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return
		}
		name := path + fmt.Sprint(key)
		lines[name] = to(int(in.InputOffset()))
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return
		}
		start := int(in.InputOffset()) - len(value)
		if at := to(start); depth > 1 {
			members(value, at, name+".", depth-1, lines)
		}
	}
}

// wrong adds a fault at a key.
func (s *summary) wrong(key, format string, args ...any) {
	where := s.path
	if line := s.lines[key]; line > 0 {
		where += fmt.Sprintf(":%d", line)
	}
	s.faults = append(s.faults, where+": "+key+" "+fmt.Sprintf(format, args...))
}

// closeTo reports whether two numbers are equal except for rounding of sums of a given size.
func closeTo(a, b, size float64) bool {
	return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), math.Abs(size))
}

// keys reports keys that are missing or have the wrong type. A summary without a schema version may contain only a few metrics, so keys may be missing
// there.
func (s *summary) keys() {
	text := func(v any) bool { _, ok := v.(string); return ok }
	object := func(v any) bool { _, ok := v.(map[string]any); return ok }
	for _, k := range []struct {
		key, what, since string
		is               func(any) bool
	}{
		{"aiperf_version", "a text", "1.0", text},
		{"benchmark_id", "a text", "1.0", text},
		{"input_config", "an object", "0", object},
		{"run_info", "an object", "1.2", object},
		{"was_cancelled", "true or false", "0", func(v any) bool { _, ok := v.(bool); return ok }},
		{"error_summary", "a list", "0", func(v any) bool { _, ok := v.([]any); return ok }},
	} {
		switch v, there := s.values[k.key]; {
		case there && !k.is(v):
			s.wrong(k.key, "must be %s, got %s", k.what, kindOf(v))
		case !there && s.version != "" && s.version >= k.since:
			s.wrong(k.key, "is missing; it must be %s", k.what)
		}
	}
	groups, ok := s.values["error_summary"].([]any)
	failed := 0.0
	for i, g := range groups {
		one, _ := g.(map[string]any)
		n, ok := one["count"].(float64)
		if !ok {
			s.wrong("error_summary", "[%d].count must be a number, got %s", i, kindOf(one["count"]))
		}
		failed += n
	}
	if n, there := s.value("error_request_count"); ok && there && n != failed {
		s.wrong("error_request_count", "is %v, but the groups of error_summary add up to %v", n, failed)
	}
}

// kindOf returns the type of a value in words.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// value returns the average, or the only value, of a metric.
func (s *summary) value(tag string) (v float64, there bool) {
	m, _ := s.values[tag].(map[string]any)
	v, there = m["avg"].(float64)
	return v, there
}

// metricsOf lists the metrics of an object: its members with a unit.
func metricsOf(object map[string]any) (tags []string) {
	for tag, v := range object {
		if m, ok := v.(map[string]any); ok && m["unit"] != nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags
}

// ranked lists statistics in ascending order: none may be larger than a later one.
var ranked = []string{"min", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "max"}

// statistics reports faults within the objects of metrics.
func (s *summary) statistics() {
	for _, tag := range metricsOf(s.values) {
		s.within(tag, s.values[tag].(map[string]any))
	}
	warm, _ := s.values["warmup_metrics"].(map[string]any)
	for _, tag := range metricsOf(warm) {
		s.within("warmup_metrics."+tag, warm[tag].(map[string]any))
	}
}

func (s *summary) within(key string, m map[string]any) {
	if _, ok := m["unit"].(string); !ok {
		s.wrong(key, "unit must be a text, got %s", kindOf(m["unit"]))
	}
	before := ""
	for _, stat := range sorted(m) {
		if _, ok := m[stat].(float64); !ok && stat != "unit" && m[stat] != nil {
			s.wrong(key+"."+stat, "must be a number, got %s", kindOf(m[stat]))
		}
	}
	for _, stat := range ranked {
		v, ok := m[stat].(float64)
		if !ok {
			continue
		}
		if before != "" && v < m[before].(float64) && !closeTo(v, m[before].(float64), 0) {
			s.wrong(key+"."+stat, "is %v, which is below %s (%v)", v, before, m[before])
			return
		}
		before = stat
	}
	count, counted := m["count"].(float64)
	sum, summed := m["sum"].(float64)
	if avg, ok := m["avg"].(float64); ok && counted && summed && count > 0 && !closeTo(avg, sum/count, 0) {
		s.wrong(key+".avg", "is %v, but sum / count is %v", avg, sum/count)
	}
}

func sorted(m map[string]any) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// perRequest reports whether a metric is a distribution over requests; an unknown metric may be one.
func perRequest(tag string) bool {
	m, known := metric.Lookup(tag)
	return !known || m.Kind == metric.Record
}
