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

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// CellFile is the file that a run of a series writes after all its other files. It contains the configuration and a digest, which shows whether the
// run is the one that the series needs.
const CellFile = "run_config.json"

// largestSummary limits how much of a finished run's summary is read, in bytes.
const largestSummary = 64 << 20

// readBack lists the files of a finished run that the statistics over several runs are computed from.
func readBack(l Layout) []string { return []string{l.SummaryJSON(), l.Records()} }

// WriteCell marks the run of a directory as finished. The mark contains the sizes in bytes of the files that are read back.
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

// RemoveCell removes the mark, because the run of the directory is repeated.
func RemoveCell(dir string) error {
	if err := os.Remove(filepath.Join(dir, CellFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadCell returns the digest and the configuration (JSON) of the finished run in a directory; both are empty if there is none. torn is the file whose
// size differs from the recorded one, for example after a power failure; "" = none.
func ReadCell(l Layout) (digest string, config []byte, torn string) {
	data, err := boundedfile.ReadAll(filepath.Join(l.Dir, CellFile), largestSummary)
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

// ReadSummary reads the statistics of a finished run from its summary JSON, written by aiperf or the Python tool.
func ReadSummary(path string) (*metric.Run, error) {
	data, err := boundedfile.ReadAll(path, largestSummary)
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
	_ = json.Unmarshal(all["was_cancelled"], &cut) // missing: the run was not cancelled
	run.Cancelled = cut
	_ = json.Unmarshal(all["incomplete_reason"], &run.IncompleteReason) // missing: the run is complete
	run.Start, run.End = localInstant(all["start_time"]), localInstant(all["end_time"])
	var submission metric.Submission
	if json.Unmarshal(all["metadata"], &submission) == nil && submission.Scenario != "" {
		run.Submission = &submission
	}
	return run, nil
}

// readVerdict reads the verdict of a run, the ranges of its statistics, and the facts that the verdict is based on. It skips what it cannot read.
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

// localInstant reads what LocalTime wrote; it returns the zero time for any other value.
func localInstant(raw json.RawMessage) time.Time {
	var text string
	_ = json.Unmarshal(raw, &text)
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, time.Local) // a fraction of a second is accepted too
	if err != nil {
		return time.Time{}
	}
	return t
}
