// Package speedbench combines runs of SPEED-Bench, one per category, into one table of the performance of speculative decoding (accuracy.md, section
// 6.2, of the specification).
package speedbench

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/boundedfile"
)

// Metric is a metric of the table.
type Metric string

// The metrics.
const (
	Length     Metric = "accept_length" // tokens per step of the model
	Rate       Metric = "accept_rate"   // share of drafted tokens that were accepted
	Throughput Metric = "throughput"    // output tokens per second
)

// Metrics lists all metrics.
var Metrics = []string{string(Length), string(Rate), string(Throughput)}

// Title returns the title of the table of a metric.
func (m Metric) Title() string {
	return map[Metric]string{Length: "Acceptance Length Report", Rate: "Acceptance Rate Report", Throughput: "Throughput Report (tokens/sec)"}[m]
}

// Table has a row per model, a column per category, and the mean of the existing values.
type Table struct {
	Head []string
	Rows [][]string // cells; "" = no value
}

// Files of a run.
const (
	summaryFile = "profile_export_aiperf.json"
	serverFile  = "server_metrics_export.json"
	largestFile = 256 << 20
)

// Errors of paths without usable runs.
var (
	ErrNoRuns    = errors.New("no aiperf run directories found")
	ErrNoResults = errors.New("no SPEED-Bench results extracted")
)

// Runs lists the directories of runs: the given ones, or the children of a given one.
func Runs(paths []string, warn func(format string, args ...any)) ([]string, error) {
	var runs []string
	isRun := func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, summaryFile))
		return err == nil && info.Mode().IsRegular()
	}
	for _, path := range paths {
		children, err := os.ReadDir(path)
		if err != nil {
			warn("%s is not a directory, skipping", path)
			continue
		}
		if isRun(path) {
			runs = append(runs, path)
			continue
		}
		for _, c := range children {
			if dir := filepath.Join(path, c.Name()); isRun(dir) {
				runs = append(runs, dir)
			}
		}
	}
	if len(runs) == 0 {
		return nil, ErrNoRuns
	}
	return runs, nil
}

// result is the result of one run.
type result struct {
	value float64 // NaN: none
	start string  // start of the run, as sortable text
	dir   string
}

// Build makes the table from the runs.
func Build(runs []string, metric Metric, warn func(format string, args ...any)) (*Table, error) {
	results := map[string]map[string]result{}
	some := false
	for _, dir := range runs {
		s, err := readSummary(dir)
		if err != nil {
			warn("failed to read %v, skipping", err)
			continue
		}
		category := s.category()
		if category == "" {
			warn("cannot determine category from %s, skipping", dir)
			continue
		}
		one := result{value: s.value(dir, metric, warn), start: s.Start, dir: dir}
		model := s.model()
		if results[model] == nil {
			results[model] = map[string]result{}
		}
		if was, twice := results[model][category]; twice {
			last := one
			if was.start > one.start {
				last = was
			}
			warn("%s and %s are both %s of %s; using the later one, %s", was.dir, one.dir, category, model, last.dir)
			one = last
		}
		results[model][category] = one
		some = some || !math.IsNaN(one.value)
	}
	if !some {
		return nil, ErrNoResults
	}
	return table(results), nil
}

// orders lists the categories of each kind, in the order of their columns.
var orders = [][]string{
	{"coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem", "summarization", "writing"},
	{"low_entropy", "mixed", "high_entropy"},
	{"gsm8k", "math500", "mtbench", "humaneval", "mbpp"},
}

// columns sorts categories: those of one kind in its order, otherwise by name.
func columns(found []string) []string {
	for _, order := range orders {
		if !slices.ContainsFunc(found, func(c string) bool { return !slices.Contains(order, c) }) {
			return slices.DeleteFunc(slices.Clone(order), func(c string) bool { return !slices.Contains(found, c) })
		}
	}
	slices.Sort(found)
	return found
}

func table(results map[string]map[string]result) *Table {
	var models, found []string
	for model, byCategory := range results {
		models = append(models, model)
		for c := range byCategory {
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	slices.Sort(models)
	all := columns(found)
	t := &Table{Head: append(append([]string{"Model"}, all...), "Overall")}
	for _, model := range models {
		row, sum, n := []string{model}, 0.0, 0
		for _, c := range all {
			r, there := results[model][c]
			if !there || math.IsNaN(r.value) {
				row = append(row, "")
				continue
			}
			row = append(row, two(r.value))
			sum, n = sum+r.value, n+1
		}
		overall := ""
		if n > 0 {
			overall = two(sum / float64(n))
		}
		t.Rows = append(t.Rows, append(row, overall))
	}
	return t
}

func two(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// CSV returns the table as CSV.
func (t *Table) CSV() string {
	var b strings.Builder
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		c.Write(row)
	}
	c.Flush()
	return b.String()
}

// summary holds what is read from a run's summary.
type summary struct {
	Input struct {
		Models struct {
			Items []struct{ Name string } `json:"items"`
		} `json:"models"`
		Datasets []struct{ Format, Dataset string } `json:"datasets"`
	} `json:"input_config"`
	Start      string              `json:"start_time"`
	Throughput map[string]*float64 `json:"-"`
}

// readSummary reads the summary of a run; parts with an unexpected form are omitted.
func readSummary(dir string) (*summary, error) {
	path := filepath.Join(dir, summaryFile)
	text, err := boundedfile.ReadAll(path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &summary{}
	var input map[string]json.RawMessage
	decodeLenient(all["input_config"], &input)
	decodeLenient(input["models"], &s.Input.Models)
	decodeLenient(input["datasets"], &s.Input.Datasets)
	decodeLenient(all["start_time"], &s.Start)
	var stats map[string]any
	decodeLenient(all["output_token_throughput"], &stats)
	s.Throughput = map[string]*float64{}
	for name, v := range stats {
		if f, ok := v.(float64); ok {
			s.Throughput[name] = &f
		}
	}
	return s, nil
}

// decodeLenient decodes a part of a document; if its form is unexpected, v keeps what was decoded before.
func decodeLenient(raw json.RawMessage, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v) // missing values stay visible as such
	}
}

// model returns the first non-empty model name.
func (s *summary) model() string {
	for _, m := range s.Input.Models.Items {
		if m.Name != "" {
			return m.Name
		}
	}
	return "unknown"
}

// category returns the name of the first SPEED-Bench dataset without the common prefix; "" = there is none.
func (s *summary) category() string {
	for _, d := range s.Input.Datasets {
		name := d.Format
		if name == "" {
			name = d.Dataset
		}
		for _, prefix := range []string{"speed_bench_", "spec_al_"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				return rest
			}
		}
	}
	return ""
}

// value returns the metric of a run; NaN: it has none.
func (s *summary) value(dir string, metric Metric, warn func(format string, args ...any)) float64 {
	if metric == Throughput {
		if v := s.Throughput["avg"]; v != nil {
			return *v
		}
		return math.NaN()
	}
	path := filepath.Join(dir, serverFile)
	text, err := boundedfile.ReadAll(path, largestFile)
	if errors.Is(err, os.ErrNotExist) {
		warn("no %s in %s", serverFile, dir)
		return math.NaN()
	}
	m := serverMetrics{}
	if err == nil {
		m, err = readServer(text)
	}
	if err != nil {
		warn("failed to read %s: %v", path, err)
		warn("no %s in %s", serverFile, dir)
		return math.NaN()
	}
	if metric == Length {
		return m.length()
	}
	return m.rate()
}
