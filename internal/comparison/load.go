package comparison

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/infile"
)

// Names of the files of a run.
const (
	recordsFile = "profile_export.jsonl"
	summaryFile = "profile_export_aiperf.json"
)

// longest is the length of the longest line of records, in bytes, and of a summary.
const longest = 64 << 20

// Load reads the runs of a directory: the run that lies there, or the repetitions below profile_runs; or of a records file.
func Load(path string) ([]Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return loadAll([]string{path})
	}
	if _, err := os.Stat(filepath.Join(path, recordsFile)); err == nil {
		return loadAll([]string{filepath.Join(path, recordsFile)})
	}
	below, err := filepath.Glob(filepath.Join(path, "profile_runs", "*", recordsFile))
	if err != nil || len(below) == 0 {
		return nil, fmt.Errorf("%s holds no %s, and no runs below profile_runs", path, recordsFile)
	}
	slices.Sort(below)
	return loadAll(below)
}

func loadAll(paths []string) (list []Run, err error) {
	for _, path := range paths {
		run, err := load(path)
		if err != nil {
			return nil, err
		}
		list = append(list, *run)
	}
	return list, nil
}

// record is what is read of a line.
type record struct {
	Metadata struct {
		Phase string `json:"benchmark_phase"`
		Cut   bool   `json:"was_cancelled"`
		Start int64  `json:"request_start_ns"`
		End   int64  `json:"request_end_ns"`
	} `json:"metadata"`
	Metrics map[string]json.RawMessage `json:"metrics"`
	Error   json.RawMessage            `json:"error"`
}

func (r *record) value(tag string) (float64, bool) {
	var m struct {
		Value *float64 `json:"value"`
	}
	if json.Unmarshal(r.Metrics[tag], &m) != nil || m.Value == nil {
		return 0, false
	}
	return *m.Value, true
}

// load reads one run from its records, and what its summary says of it.
func load(path string) (*Run, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	run := &Run{Path: filepath.Dir(path), Values: map[string][]float64{}}
	var good []record
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), longest)
	for n := 1; in.Scan(); n++ {
		var r record
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		switch {
		case r.Metadata.Phase != "profiling" || r.Metadata.Cut:
		case len(r.Error) > 0 && string(r.Error) != "null":
			run.Failed++
		default:
			good = append(good, r)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(good, func(a, b record) int {
		switch {
		case a.Metadata.Start < b.Metadata.Start:
			return -1
		case a.Metadata.Start > b.Metadata.Start:
			return 1
		}
		return 0
	})
	last := int64(0)
	for i := range good {
		r := &good[i]
		last = max(last, r.Metadata.End)
		for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
			if v, ok := r.value(tag); ok {
				run.Values[tag] = append(run.Values[tag], v)
			}
		}
		if v, ok := r.value("output_sequence_length"); ok {
			run.Tokens += v
		}
	}
	if len(good) > 0 {
		run.Seconds = float64(last-good[0].Metadata.Start) / 1e9
	}
	return run, run.about()
}

// about takes what the summary beside the records says. Without one, as beside records alone, nothing is known.
func (r *Run) about() error {
	text, err := infile.ReadAll(filepath.Join(r.Path, summaryFile), longest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s struct {
		Cut      bool `json:"was_cancelled"`
		Validity struct {
			Verdict string `json:"verdict"`
		} `json:"validity"`
		Config struct {
			Endpoint struct {
				Type      string `json:"type"`
				Streaming bool   `json:"streaming"`
			} `json:"endpoint"`
			Phases []struct {
				Kind        string   `json:"kind"`
				Type        string   `json:"type"`
				Concurrency *int     `json:"concurrency"`
				Rate        *float64 `json:"rate"`
			} `json:"phases"`
		} `json:"input_config"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Path, summaryFile), err)
	}
	switch {
	case s.Cut:
		r.Doubt = "the run was cut short"
	case s.Validity.Verdict == "client limited":
		r.Doubt = "the client was the limit"
	case s.Validity.Verdict == "uncertain":
		r.Doubt = "its latencies are uncertain"
	}
	r.Settings = []Setting{{"endpoint type", s.Config.Endpoint.Type}, {"streaming", fmt.Sprint(s.Config.Endpoint.Streaming)}}
	for _, p := range s.Config.Phases {
		if p.Kind != "profiling" {
			continue
		}
		load := p.Type
		if p.Concurrency != nil {
			load += fmt.Sprintf(", concurrency %d", *p.Concurrency)
		}
		if p.Rate != nil {
			load += fmt.Sprintf(", rate %g", *p.Rate)
		}
		r.Settings = append(r.Settings, Setting{"load", load})
	}
	return nil
}
