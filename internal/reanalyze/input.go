package reanalyze

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/artifact"
	"aiperf/internal/infile"
)

// Found is one run that a report can be made of.
type Found struct {
	Dir    string   // artifact directory of the run
	Prefix string   // of its file names, "" = the default names
	Raw    []string // its raw export; several parts of a run of the Python tool that was cut
	series string   // id of the series that it is a run of, "" = of none
}

// deepest is how far below the directory of a series its runs may lie.
const deepest = 5

// Find lists the runs of an input: a raw export, the directory of a run, or that of a series with its runs below, in the order of their
// names.
func Find(input string) ([]Found, error) {
	info, err := os.Stat(input)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if !info.IsDir() {
		return []Found{found(input)}, nil
	}
	here, err := filepath.Glob(filepath.Join(escape(input), "*_raw.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	switch {
	case len(here) == 1:
		return []Found{found(here[0])}, nil
	case len(here) > 1:
		return nil, fmt.Errorf("report: %s holds %d raw exports (%s, %s, …); name one of them", input, len(here), filepath.Base(here[0]), filepath.Base(here[1]))
	}
	if here, err = filepath.Glob(filepath.Join(escape(input), "raw_records", "*.jsonl")); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if len(here) > 0 {
		return []Found{{Dir: input, Raw: here}}, nil
	}
	runs, err := below(input)
	if err != nil || len(runs) > 0 {
		return runs, err
	}
	return nil, fmt.Errorf("report: %s holds no raw export (profile_export_raw.jsonl); a run keeps one where artifacts.raw is on", input)
}

// below finds the runs in the directories under a directory. They must be of one series.
func below(dir string) (runs []Found, err error) {
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
		return nil, fmt.Errorf("report: %s holds runs of %d series (%s); give the directory of one run", dir, len(series), strings.Join(series, ", "))
	}
	return runs, nil
}

// found tells of which run a raw export is. The prefix of its file names may hold a directory, which only the summary tells.
func found(raw string) Found {
	dir, name := filepath.Split(raw)
	f := Found{Dir: filepath.Clean(dir), Raw: []string{raw}}
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
	data, err := infile.ReadAll(artifact.NewLayout(f.Dir, f.Prefix).SummaryJSON(), maxSummary)
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

// escape takes the pattern characters of a directory name literally.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
