package comparison

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// Names of the files of a run.
const (
	recordsFile = "profile_export.jsonl"
	summaryFile = "profile_export_aiperf.json"
)

// longest is the maximum length, in bytes, of a line of records and of a summary.
const longest = 64 << 20

// Load reads the runs of a path: the run in a directory, its repetitions below profile_runs, or a records file. It skips the first skip seconds.
func Load(path string, skip float64) ([]Run, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, boundedfile.Missing(path)
	case err != nil:
		return nil, err
	}
	if !info.IsDir() {
		return loadAll([]string{path}, skip)
	}
	if hasRecords(path) {
		return loadAll([]string{filepath.Join(path, recordsFile)}, skip)
	}
	var files []string
	for _, dir := range repetitions(path) {
		files = append(files, filepath.Join(dir, recordsFile))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s, and no runs below profile_runs", path, recordsFile)
	}
	return loadAll(files, skip)
}

// loadAll reads runs in parallel.
func loadAll(paths []string, skip float64) ([]Run, error) {
	list, errs := make([]Run, len(paths)), make([]error, len(paths))
	var wg sync.WaitGroup
	slots := make(chan struct{}, processors.Cores())
	for i, path := range paths {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			run, err := load(path, skip)
			if errs[i] = err; err == nil {
				list[i] = *run
			}
		})
	}
	wg.Wait()
	return list, errors.Join(errs...)
}

// lengths are the metrics read in addition to latencies.
var lengths = []string{"input_sequence_length", "output_sequence_length"}

// request is the part of a line that is read.
type request struct {
	start, end    int64
	values        [5]float64 // metrics of timed, then lengths; NaN if missing
	metObjectives float64
}

// readRequest reads a line. skip means that the line does not count at all.
func readRequest(v *fastjson.Value) (q request, failed, skip bool) {
	md := v.Get("metadata")
	if string(md.GetStringBytes("benchmark_phase")) != "profiling" || md.GetBool("was_cancelled") {
		return q, false, true
	}
	q.start, q.end = md.GetInt64("request_start_ns"), md.GetInt64("request_end_ns")
	if e := v.Get("error"); e != nil && e.Type() != fastjson.TypeNull {
		return q, true, false
	}
	m := v.Get("metrics")
	for i, tag := range timed {
		q.values[i] = figureOf(m, tag)
	}
	for i, tag := range lengths {
		q.values[len(timed)+i] = figureOf(m, tag)
	}
	q.metObjectives = figureOf(m, "good_request_count")
	return q, false, false
}

// figureOf returns the value of a metric of a line, NaN if it has none.
func figureOf(m *fastjson.Value, tag string) float64 {
	v := m.Get(tag, "value")
	if v == nil || v.Type() != fastjson.TypeNumber {
		return math.NaN()
	}
	return v.GetFloat64()
}

// load reads one run from its records and its summary. It skips requests that start in the first skip seconds.
func load(path string, skip float64) (*Run, error) {
	file, err := boundedfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var good []request
	var failed []int64
	cancelled := 0
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), longest)
	var p fastjson.Parser
	for n := 1; in.Scan(); n++ {
		v, err := p.ParseBytes(in.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not valid JSON: %w; the file is damaged: restore it, or repeat the run", path, n, jsontext.ParseFault(err))
		}
		if bad := jsontext.OutOfRange(in.Bytes()); bad != "" {
			return nil, fmt.Errorf("%s:%d: the number %.40s is not a finite 64-bit number; the file is damaged: restore it, or repeat the run", path, n, bad)
		}
		switch q, bad, skipped := readRequest(v); {
		case skipped && string(v.GetStringBytes("error", "type")) == record.PlannedCancellation:
			cancelled++
		case skipped:
		case bad:
			failed = append(failed, q.start)
		default:
			good = append(good, q)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	run := &Run{Path: filepath.Dir(path), Values: map[string][]float64{}, Skip: skip, Cancelled: cancelled}
	run.store(good, failed)
	return run, run.readSummary()
}

// store sorts the requests of a run and stores their values.
func (r *Run) store(good []request, failed []int64) {
	sorting.Stable(good, func(a, b request) int { return cmp.Compare(a.start, b.start) })
	if len(good) == 0 {
		if r.Failed = len(failed); r.Failed > 0 {
			r.Wall, r.Seconds = slices.Min(failed), float64(slices.Max(failed)-slices.Min(failed))/1e9
		}
		return
	}
	first, last := good[0].start, int64(0)
	r.Wall = first
	for _, at := range failed {
		if float64(at-first)/1e9 >= r.Skip {
			r.Failed++
		}
	}
	counted := false
	for i := range good {
		q := &good[i]
		last = max(last, q.end)
		r.Ends = append(r.Ends, float64(q.end-first)/1e9)
		tokens := q.values[len(timed)+1]
		counted = counted || tokens > 0
		if !(tokens > 0) {
			tokens = 0
		}
		r.Output = append(r.Output, tokens)
		if !math.IsNaN(q.metObjectives) {
			r.MetObjectives = append(r.MetObjectives, q.metObjectives)
		}
		if r.Starts = float64(q.start-first) / 1e9; r.Starts < r.Skip {
			continue
		}
		r.Tokens += tokens
		for k, tag := range slices.Concat(timed, lengths) {
			if v := q.values[k]; !math.IsNaN(v) {
				r.Values[tag] = append(r.Values[tag], v)
			}
		}
	}
	if !counted {
		r.Output = nil
	}
	if len(r.MetObjectives) != len(good) {
		r.MetObjectives = nil
	}
	r.Seconds = float64(last-first)/1e9 - r.Skip
}

// readSummary reads the summary next to the records. Without a summary, everything in it is unknown.
func (r *Run) readSummary() error {
	text, err := boundedfile.ReadAll(filepath.Join(r.Path, summaryFile), longest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s struct {
		Cut      bool  `json:"was_cancelled"`
		Complete *bool `json:"is_complete"`
		Validity struct {
			Verdict  string        `json:"verdict"`
			Steal    float64       `json:"machine_steal_percent"`
			Pressure float64       `json:"machine_pressure_percent"`
			Wake     float64       `json:"machine_wake_delay_ms"`
			Late     float64       `json:"machine_wakes_late_percent"`
			Bounds   metric.Bounds `json:"bounds"`
			Machine  string        `json:"client_machine"`
			Cores    int           `json:"client_cores"`
			Source   string        `json:"prompt_cache_source"`
			Reported float64       `json:"prompt_cache_reported_percent"`
			Most     float64       `json:"prompt_cache_expected_max_percent"`
			Counter  string        `json:"prompt_cache_counter"`
			Counted  float64       `json:"prompt_cache_counter_percent"`
			Unread   int64         `json:"unreadable_answers"`
			Choices  int64         `json:"more_choices_answers"`
			Early    int64         `json:"early_usage_answers"`
			Missing  int64         `json:"missing_usage_answers"`
			Slots    float64       `json:"slot_seconds"`
			Lost     float64       `json:"slot_lost_seconds"`
			Unsure   float64       `json:"slot_unsure_seconds"`
		} `json:"validity"`
		Requests struct {
			Count float64 `json:"avg"`
		} `json:"request_count"`
		Probe struct {
			Model string `json:"model"`
		} `json:"probe"`
		ID     string `json:"benchmark_id"`
		Config struct {
			Tokenizer struct {
				Name string `json:"name"`
			} `json:"tokenizer"`
			Endpoint struct {
				Type      string   `json:"type"`
				Streaming bool     `json:"streaming"`
				URLs      []string `json:"urls"`
			} `json:"endpoint"`
			Models struct {
				Items []struct {
					Name string `json:"name"`
				} `json:"items"`
			} `json:"models"`
			Phases     []phase        `json:"phases"`
			Objectives map[string]any `json:"slos"`
		} `json:"input_config"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Path, summaryFile), err)
	}
	if key, bad := jsontext.Overflow(text); bad != "" {
		return fmt.Errorf("%s: %s: the number %.40s is not a finite 64-bit number; the file is damaged: restore it, or repeat the run", filepath.Join(r.Path, summaryFile), key, bad)
	}
	r.Disturbed = disturbedShare(s.Validity.Steal, s.Validity.Pressure, s.Config.Endpoint.URLs)
	if isLocalServer(s.Config.Endpoint.URLs) {
		r.Wake, r.Late = s.Validity.Wake, s.Validity.Late/100
	}
	r.ID, r.Machine, r.Bounds = s.ID, machineOf(s.Validity.Machine, s.Validity.Cores), s.Validity.Bounds
	r.Cache = metric.CacheUse{CacheSource: s.Validity.Source, CacheReported: s.Validity.Reported, CacheExpectedMax: s.Validity.Most,
		CacheCounter: s.Validity.Counter, CacheCounted: s.Validity.Counted}
	if err := r.readStated(text); err != nil {
		return err
	}
	answers := metric.ClientStats{Valid: int64(s.Requests.Count), AnswerUse: metric.AnswerUse{UnreadableAnswers: s.Validity.Unread, MoreChoices: s.Validity.Choices, EarlyUsages: s.Validity.Early,
		MissingUsages: s.Validity.Missing}}
	client := metric.Validity{Verdict: metric.Verdict(s.Validity.Verdict)}
	client.SlotUse = metric.SlotUse{SlotTime: seconds(s.Validity.Slots), SlotTimeLost: seconds(s.Validity.Lost), SlotTimeUnsure: seconds(s.Validity.Unsure)}
	switch {
	case s.Cut:
		r.Doubt = cutShort
	case client.ClientDoubt() != "":
		r.Doubt = client.ClientDoubt()
	case answers.Unread() != "":
		r.Doubt = answers.Unread()
	case s.Validity.Verdict == "uncertain" && len(s.Validity.Bounds) == 0 && !r.Cache.Warm(): // written by a version that did not name the statistics
		r.Doubt = "its latencies are uncertain"
	}
	if s.Complete != nil && !*s.Complete && r.Doubt == "" {
		r.Doubt = incomplete
	}
	model := ""
	if len(s.Config.Models.Items) > 0 {
		model = s.Config.Models.Items[0].Name
	}
	r.setTarget(s.Config.Endpoint.URLs, model, s.Probe.Model)
	for _, tag := range slices.Sorted(maps.Keys(s.Config.Objectives)) {
		r.Objectives = strings.TrimSpace(fmt.Sprintf("%s %s:%v", r.Objectives, tag, s.Config.Objectives[tag]))
	}
	r.Settings = []Setting{{"endpoint type", s.Config.Endpoint.Type}, {"streaming", fmt.Sprint(s.Config.Endpoint.Streaming)}, {"tokenizer", s.Config.Tokenizer.Name}}
	for i := range s.Config.Phases {
		if p := &s.Config.Phases[i]; p.Kind == "profiling" {
			r.Fixed = p.Type != "concurrency"
			r.Settings = append(r.Settings, Setting{"load", p.load()})
		}
	}
	return nil
}

// seconds converts a number of seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// phase is a phase of a run in its configuration.
type phase struct {
	Kind        string   `json:"kind"`
	Type        string   `json:"type"`
	Concurrency *int     `json:"concurrency"`
	Prefill     *int     `json:"prefill_concurrency"`
	Rate        *float64 `json:"rate"`
	Users       *int     `json:"users"`
	Cancelled   struct {
		Rate float64 `json:"rate"` // percent of the requests
	} `json:"cancellation"`
}

// load describes the load of a phase: "concurrency 8", "poisson, rate 10", "concurrency 8, 50 % cancelled".
func (p *phase) load() string {
	load := p.Type
	switch {
	case p.Concurrency == nil:
	case p.Type == "concurrency":
		load = fmt.Sprintf("concurrency %d", *p.Concurrency)
	default:
		load += fmt.Sprintf(", concurrency %d", *p.Concurrency)
	}
	if p.Rate != nil {
		load += fmt.Sprintf(", rate %g", *p.Rate)
	}
	if p.Prefill != nil {
		load += fmt.Sprintf(", prefill concurrency %d", *p.Prefill)
	}
	if p.Users != nil {
		load += fmt.Sprintf(", %d users", *p.Users)
	}
	if p.Cancelled.Rate > 0 {
		load += fmt.Sprintf(", %g %% cancelled", p.Cancelled.Rate)
	}
	return load
}

// machineOf describes the machine of a client; "" if nothing is known of it.
func machineOf(fingerprint string, cores int) string {
	switch {
	case fingerprint != "" && cores > 0:
		return fmt.Sprintf("%s, %d cores", fingerprint, cores)
	case cores > 0:
		return fmt.Sprintf("%d cores", cores)
	}
	return fingerprint
}

// readStated reads the statistics of a summary that can be compared.
func (r *Run) readStated(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Path, summaryFile), err)
	}
	r.Stated = map[string]map[metric.Stat]float64{}
	for _, s := range allStatistics() {
		var one map[string]any
		if json.Unmarshal(all[s.tag], &one) != nil {
			continue
		}
		stat := s.statOf()
		if v, ok := one[stat.String()].(float64); ok {
			if r.Stated[s.tag] == nil {
				r.Stated[s.tag] = map[metric.Stat]float64{}
			}
			r.Stated[s.tag][stat] = v
		}
	}
	return nil
}
