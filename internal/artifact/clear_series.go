package artifact

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// deepestSeries is how far below the directory of a series its files lie.
const deepestSeries = 5

// aggregates are the files of what several runs add up to.
var aggregates = []string{
	"profile_export_aiperf_aggregate.json", "profile_export_aiperf_aggregate.csv", "profile_export_aiperf_collated.json",
	"profile_export_aiperf_sweep.json", "profile_export_aiperf_sweep.csv", "sampling_design.json", "search_history.json", CellFile,
}

// ClearSeries removes what earlier runs left in the directory of a series: a single run's files, and those of the runs of earlier series
// below it, which their summaries tell. It returns how many there were.
func ClearSeries(dir, prefix string) (removed int, err error) {
	var errs []error
	remove := func(l Layout) {
		n, err := l.Clear(func(string) bool { return false })
		removed += n
		errs = append(errs, err)
	}
	remove(NewLayout(dir, prefix))
	errs = append(errs, RemoveUnfinished(dir))
	var below []string // deepest last
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
	emptied := map[string]bool{} // directories out of which something was taken
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
		if emptied[path] && os.Remove(path) == nil { // it stays if something else lies there
			emptied[filepath.Dir(path)] = true
		}
	}
	return removed, errors.Join(errs...)
}

// unfinished is the name of a file that WriteFile was killed over.
var unfinished = regexp.MustCompile(`^\..+\.(json|csv|txt|html|xml|yaml)\.[0-9]+$`)

// RemoveUnfinished removes what a process left in the directory of a series that was killed while it wrote a file.
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

// outside tells whether a directory below that of a series is none of its own.
func outside(dir, path string) bool {
	rel, _ := filepath.Rel(dir, path)
	name := filepath.Base(path)
	return name == "report" || strings.HasPrefix(name, ".") || strings.Count(rel, string(filepath.Separator)) >= deepestSeries
}

// ofSeries reports whether a run of a series is there: its summary says so, or it is a cell of find-capacity or a block of ab, which are runs of a series
// also where a kill left no summary.
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
