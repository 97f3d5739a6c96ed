package rereport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
)

// RunFiles names the files of one run that a report can be made from.
type RunFiles struct {
	Dir    string   // artifact directory of the run
	Prefix string   // of the file names; "" = the default names
	Raw    []string // its raw export; several parts for a split export of the Python tool
	series string   // id of the series that the run belongs to; "" = none
}

// deepest is how many levels below the directory of a series its runs may lie.
const deepest = 5

// Find lists the runs of an input: a raw export, the directory of a run, or that of a series with runs below it. They are sorted by name.
func Find(input string) ([]RunFiles, error) {
	info, err := os.Stat(input)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, boundedfile.Missing(input)
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if !info.IsDir() {
		return []RunFiles{found(input)}, nil
	}
	here, err := filepath.Glob(filepath.Join(escape(input), "*_raw.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	switch {
	case len(here) == 1:
		return []RunFiles{found(here[0])}, nil
	case len(here) > 1:
		return nil, fmt.Errorf("report: %s has %d raw exports (%s, %s, …); name one of them", input, len(here), filepath.Base(here[0]), filepath.Base(here[1]))
	}
	if here, err = filepath.Glob(filepath.Join(escape(input), "raw_records", "*.jsonl")); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if len(here) > 0 {
		return []RunFiles{{Dir: input, Raw: here}}, nil
	}
	runs, err := below(input)
	if err != nil || len(runs) > 0 {
		return runs, err
	}
	return nil, fmt.Errorf("%s has no raw export (profile_export_raw.jsonl); repeat the run with %s raw", input, config.FlagOf("artifacts.records"))
}

// below finds the runs in the directories under dir. They must belong to one series.
func below(dir string) (runs []RunFiles, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir() && (d.Name() == "report" || strings.Count(rel, string(filepath.Separator)) >= deepest):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(d.Name(), "_raw.jsonl"):
			runs = append(runs, found(path))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var series []string
	for _, r := range runs {
		if !slices.Contains(series, r.series) {
			series = append(series, r.series)
		}
	}
	if len(series) > 1 {
		return nil, fmt.Errorf("report: %s has runs of %d series (%s); give the directory of one run", dir, len(series), strings.Join(series, ", "))
	}
	return runs, nil
}

// found returns the run of a raw export. The prefix of its file names may contain a directory, which only the summary names.
func found(raw string) RunFiles {
	dir, name := filepath.Split(raw)
	f := RunFiles{Dir: filepath.Clean(dir), Raw: []string{raw}}
	if prefix, ok := strings.CutSuffix(name, "_raw.jsonl"); ok && prefix != "profile_export" {
		f.Prefix = prefix
	}
	var was struct {
		Input struct {
			Artifacts struct{ Prefix string } `json:"artifacts"`
		} `json:"input_config"`
		Info struct {
			SweepID string `json:"sweep_id"`
		} `json:"run_info"`
	}
	data, err := boundedfile.ReadAll(artifact.NewLayout(f.Dir, f.Prefix).SummaryJSON(), maxSummary)
	if err != nil || json.Unmarshal(data, &was) != nil {
		return f
	}
	f.series = was.Info.SweepID
	long := filepath.FromSlash(was.Input.Artifacts.Prefix)
	if above, ok := strings.CutSuffix(filepath.Clean(raw), string(filepath.Separator)+long+"_raw.jsonl"); ok && long != "" && !filepath.IsAbs(long) {
		f.Dir, f.Prefix = above, long
	}
	return f
}

// escape escapes the pattern characters in the name of a directory.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
