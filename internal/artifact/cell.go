package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/infile"
	"aiperf/internal/jsontext"
	"aiperf/internal/metric"
)

// CellFile is the file that a run of a series leaves once all its others are written: its configuration, and the digest that tells whether it
// is the run that is wanted.
const CellFile = "run_config.json"

// largestSummary bounds what is read of a finished run, in bytes.
const largestSummary = 64 << 20

// readBack are the files of a finished run that what several runs add up to is computed from.
func readBack(l Layout) []string { return []string{l.SummaryJSON(), l.Records()} }

// WriteCell marks the run of a directory as finished. The mark says how long the files are that are read back, in bytes.
func WriteCell(l Layout, digest string, config []byte) error {
	o := jsontext.Open(nil)
	o.Text("digest", digest)
	o.Key("files")
	sizes := jsontext.Open(o.B)
	for _, path := range readBack(l) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			sizes.Int(filepath.Base(path), info.Size())
		}
	}
	o.B = sizes.Close()
	o.Raw("benchmark", config)
	data, err := jsontext.Indent(o.Close())
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(l.Dir, CellFile), data)
}

// RemoveCell takes the mark away: the run of the directory is made anew.
func RemoveCell(dir string) error {
	if err := os.Remove(filepath.Join(dir, CellFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadCell returns the digest of the finished run of a directory and its configuration as JSON, both empty when none is finished there. torn is the
// file of it that has not its length any more, as after a loss of power; empty: all have.
func ReadCell(l Layout) (digest string, config []byte, torn string) {
	data, err := infile.ReadAll(filepath.Join(l.Dir, CellFile), largestSummary)
	var was struct {
		Digest    string           `json:"digest"`
		Files     map[string]int64 `json:"files"`
		Benchmark json.RawMessage  `json:"benchmark"`
	}
	if err != nil || json.Unmarshal(data, &was) != nil {
		return "", nil, ""
	}
	for _, path := range readBack(l) {
		name := filepath.Base(path)
		size, told := was.Files[name]
		if info, err := os.Stat(path); told && (err != nil || info.Size() != size) {
			return was.Digest, was.Benchmark, name
		}
	}
	return was.Digest, was.Benchmark, ""
}

// ReadSummary reads the statistics of a finished run from its summary JSON, of this program or of the Python tool.
func ReadSummary(path string) (*metric.Run, error) {
	data, err := infile.ReadAll(path, largestSummary)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	values := map[string][metric.Stats]float64{}
	for tag, raw := range all {
		var one map[string]any
		if json.Unmarshal(raw, &one) != nil || one["unit"] == nil {
			continue
		}
		var v [metric.Stats]float64
		for s := metric.Avg; s < metric.Stats; s++ {
			v[s] = math.NaN()
			if f, ok := one[s.String()].(float64); ok {
				v[s] = f
			}
		}
		values[tag] = v
	}
	count := func(tag string) int64 {
		if v := values[tag][metric.Avg]; v > 0 {
			return int64(v)
		}
		return 0
	}
	run := &metric.Run{Profiling: metric.SummaryOf(values, count("request_count"), count("error_request_count"))}
	if raw := all["validity"]; raw != nil {
		run.Validity = readVerdict(raw)
	}
	var cut bool
	_ = json.Unmarshal(all["was_cancelled"], &cut) // absent: it was not
	run.Cancelled = cut
	_ = json.Unmarshal(all["incomplete_reason"], &run.IncompleteReason) // absent: it is complete
	run.Start, run.End = localInstant(all["start_time"]), localInstant(all["end_time"])
	var submission metric.Submission
	if json.Unmarshal(all["metadata"], &submission) == nil && submission.Scenario != "" {
		run.Submission = &submission
	}
	return run, nil
}

// readVerdict reads the verdict of a run, the ranges of its statistics and what the verdict rests on. What cannot be read is left out.
func readVerdict(raw json.RawMessage) *metric.Validity {
	var said struct {
		Verdict metric.Verdict `json:"verdict"`
		Reason  string         `json:"reason"`
		Notes   []string       `json:"notes"`
		Bounds  metric.Bounds  `json:"bounds"`
	}
	v := &metric.Validity{}
	if json.Unmarshal(raw, &said) == nil {
		v.Verdict, v.Reason, v.Notes, v.Bounds = said.Verdict, said.Reason, said.Notes, said.Bounds
	}
	if stats, err := ReadValidity(raw); err == nil {
		v.ClientStats = stats
	}
	return v
}

// localInstant reads what LocalTime wrote; the zero time where there is none.
func localInstant(raw json.RawMessage) time.Time {
	var text string
	_ = json.Unmarshal(raw, &text)
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, time.Local) // a fraction of the second is read as well
	if err != nil {
		return time.Time{}
	}
	return t
}
