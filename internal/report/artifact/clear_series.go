package artifact

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// deepestSeries is how many levels below the directory of a series its files may lie.
const deepestSeries = 5

// aggregates lists the files with statistics over several runs.
var aggregates = []string{
	"profile_export_aiperf_aggregate.json", "profile_export_aiperf_aggregate.csv", "profile_export_aiperf_collated.json",
	"profile_export_aiperf_sweep.json", "profile_export_aiperf_sweep.csv", "sampling_design.json", "search_history.json", CellFile,
}

// ClearSeries removes the files of earlier runs from the directory of a series: those of a single run, and those of the runs of earlier series below
// it, which are found by their summaries. keep reports which files must stay, because the series may read them. It returns the number of removed
// files.
func ClearSeries(dir, prefix string, keep func(path string) bool) (removed int, err error) {
	var errs []error
	remove := func(l Layout) {
		n, err := l.Clear(keep)
		removed += n
		errs = append(errs, err)
	}
	remove(NewLayout(dir, prefix))
	errs = append(errs, RemoveUnfinished(dir))
	var below []string // deepest directories last
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == dir {
			return err
		}
		if outside(dir, path) {
			return fs.SkipDir
		}
		below = append(below, path)
		return nil
	})
	errs = append(errs, err)
	emptied := map[string]bool{} // directories from which a file was removed
	for _, path := range slices.Backward(below) {
		if l := NewLayout(path, prefix); ofSeries(l) {
			remove(l)
			_ = os.Remove(l.Log())
			_ = os.Remove(filepath.Dir(l.Log()))
			emptied[path] = true
		}
		for _, name := range aggregates {
			if os.Remove(filepath.Join(path, name)) == nil {
				removed++
				emptied[path] = true
			}
		}
		if emptied[path] && os.Remove(path) == nil { // the directory stays if it still contains something
			emptied[filepath.Dir(path)] = true
		}
	}
	return removed, errors.Join(errs...)
}

// unfinished matches the name of the temporary file of an interrupted WriteFile.
var unfinished = lazyregexp.New(`^\..+\.(json|csv|txt|html|xml|yaml)\.[0-9]+$`)

// RemoveUnfinished removes temporary files from the directory of a series whose process was killed during a write.
func RemoveUnfinished(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == dir:
			return err
		case !d.IsDir() && d.Type().IsRegular() && unfinished.MatchString(d.Name()):
			return os.Remove(path)
		case d.IsDir() && outside(dir, path):
			return fs.SkipDir
		}
		return nil
	})
}

// outside reports whether a directory below that of a series does not belong to the series.
func outside(dir, path string) bool {
	rel, _ := filepath.Rel(dir, path)
	name := filepath.Base(path)
	return name == "report" || strings.HasPrefix(name, ".") || strings.Count(rel, string(filepath.Separator)) >= deepestSeries
}

// ofSeries reports whether the layout holds a run of a series. Its summary says so, or it is a step of find-capacity or a block of ab: these belong to
// a series even if a kill left no summary.
func ofSeries(l Layout) bool {
	if parent := filepath.Base(filepath.Dir(l.Dir)); parent == "cells" || parent == "blocks" {
		return true
	}
	var was struct {
		Info struct {
			SweepID string `json:"sweep_id"`
		} `json:"run_info"`
	}
	data, err := os.ReadFile(l.SummaryJSON())
	return err == nil && json.Unmarshal(data, &was) == nil && was.Info.SweepID != ""
}
