package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// ranked are the statistics of a metric that no later one of the list is below.
var ranked = []string{"min", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "max"}

// closeTo tells whether numbers are the same but for the rounding of their sums.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// validateSummary tells what a summary lacks that every run has, and where its numbers contradict each other.
func validateSummary(path string, text []byte) (faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	var all map[string]any
	if json.Unmarshal(text, &all) != nil {
		return nil // told already
	}
	// What has no version of the schema may hold a few metrics alone: there a key may be absent, not of another type.
	_, versioned := all["schema_version"]
	expected := func(key string) bool { return versioned || all[key] != nil }
	if _, ok := all["input_config"].(map[string]any); !ok && expected("input_config") {
		wrong("input_config: must be an object")
	}
	if _, ok := all["was_cancelled"].(bool); !ok && expected("was_cancelled") {
		wrong("was_cancelled: must be true or false")
	}
	groups, ok := all["error_summary"].([]any)
	if !ok && expected("error_summary") {
		wrong("error_summary: must be a list")
	}
	failed := 0.0
	for i, g := range groups {
		one, _ := g.(map[string]any)
		n, ok := one["count"].(float64)
		if !ok {
			wrong("error_summary[%d].count: must be a number", i)
		}
		failed += n
	}
	keys := []string{}
	for key, v := range all {
		if m, ok := v.(map[string]any); ok && m["unit"] != nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		m := all[key].(map[string]any)
		if fault := validateStatistics(m); fault != "" {
			wrong("%s.%s", key, fault)
		}
		if n, _ := m["avg"].(float64); key == "error_request_count" && ok && n != failed {
			wrong("error_request_count is %v, the groups of error_summary count %v", n, failed)
		}
	}
	return faults
}

// validateStatistics tells what is wrong with the object of a metric: "" = nothing.
func validateStatistics(m map[string]any) string {
	if _, ok := m["unit"].(string); !ok {
		return "unit: must be a text"
	}
	for stat, v := range m {
		if _, ok := v.(float64); !ok && stat != "unit" && v != nil {
			return fmt.Sprintf("%s: must be a number, got %v", stat, v)
		}
	}
	before := ""
	for _, stat := range ranked {
		v, ok := m[stat].(float64)
		if !ok {
			continue
		}
		if before != "" && v < m[before].(float64) && !closeTo(v, m[before].(float64)) {
			return fmt.Sprintf("%s is %v, below %s (%v)", stat, v, before, m[before])
		}
		before = stat
	}
	return ""
}
