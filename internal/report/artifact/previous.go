package artifact

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
)

// Suffixes of the directories that keep the previous results of a directory.
const (
	previousSuffix = ".previous"
	oldestSuffix   = ".previous-2" // exists only until a new run has its first success
)

// Previous returns the directory that holds the results of the previous run.
func Previous(dir string) string { return filepath.Clean(dir) + previousSuffix }

// KeepPrevious moves the results in a directory to Previous(dir), to make room for a new run. The results that were in Previous(dir) are kept until
// DropOldest. Nothing moves if no request of the earlier runs succeeded. keep reports which files must stay where they are. moved reports whether
// results were moved.
func (l Layout) KeepPrevious(keep func(path string) bool) (moved bool, err error) {
	if !l.succeeded(l.Dir) {
		return false, nil
	}
	previous := Previous(l.Dir)
	if err := DropOldest(l.Dir); err != nil {
		return false, err
	}
	if err := os.Rename(previous, oldest(l.Dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(previous, 0o755); err != nil {
		return false, err
	}
	for _, e := range entries {
		if path := filepath.Join(l.Dir, e.Name()); l.ofRun(e) && !holds(path, keep) {
			err = errors.Join(err, os.Rename(path, filepath.Join(previous, e.Name())))
		}
	}
	return true, err
}

// DropOldest removes the results that were in Previous(dir) before KeepPrevious.
func DropOldest(dir string) error { return os.RemoveAll(oldest(dir)) }

func oldest(dir string) string { return filepath.Clean(dir) + oldestSuffix }

// ofRun reports whether an entry of the directory was written by a run: a file with a known name, or a directory of runs. Other entries belong to the
// user.
func (l Layout) ofRun(e fs.DirEntry) bool {
	path := filepath.Join(l.Dir, e.Name())
	if e.IsDir() {
		return slices.Contains(runDirs, e.Name()) || !outside(l.Dir, path) && l.succeeded(path)
	}
	return slices.Contains(l.results(), path) || slices.Contains(aggregates, e.Name()) || slices.Contains(runFiles, e.Name()) ||
		strings.HasPrefix(e.Name(), "profile_export")
}

// Directories and files of runs besides those that Layout names.
var (
	runDirs  = []string{"aggregate", "blocks", "cells", "logs", "phases", "plots", "report", "sweep_aggregate"}
	runFiles = []string{"comparison.json", "inputs.json", "inputs.json" + inputsDraft, "outputs.json", "report.html"}
)

// holds reports whether a file that must stay is at a path or below it.
func holds(path string, keep func(path string) bool) (found bool) {
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && keep(at) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// succeeded reports whether a directory, or one below it as in a series, contains results of successful requests: a summary that counts some, or the
// records of a run that was killed before its summary.
func (l Layout) succeeded(dir string) (found bool) {
	summary, records := filepath.Base(l.SummaryJSON()), filepath.Base(l.Records())
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || found:
			return fs.SkipAll
		case d.IsDir() && path != dir && outside(dir, path):
			return fs.SkipDir
		case d.Name() == summary:
			found = counts(path)
		case d.Name() == records && !exists(filepath.Join(filepath.Dir(path), summary)):
			info, err := d.Info()
			found = err == nil && info.Size() > 0
		}
		return nil
	})
	return found
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// counts reports whether a summary counts successful requests.
func counts(path string) bool {
	var summary struct {
		Requests struct{ Avg float64 } `json:"request_count"`
	}
	data, err := boundedfile.ReadAll(path, boundedfile.MaxStream)
	return err == nil && json.Unmarshal(data, &summary) == nil && summary.Requests.Avg > 0
}
