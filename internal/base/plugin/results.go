package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A benchmark that is started in the directory of a plug-in writes its results there, which changes no plug-in. Results are recognised by their files.
var (
	// runFiles are files that the folder of a run has, also if the run was interrupted or has its own file names (the log).
	runFiles = []string{"profile_export.jsonl", "profile_export_aiperf.json", filepath.Join("logs", "aiperf.log")}
	// seriesFiles are files of series, outside the folders of their runs. Those of sweeps begin with seriesPrefix.
	seriesFiles  = []string{"capacity.json", "comparison.json", "merged.json", "report.html", "sampling_design.json", "search_history.json", "systems.html"}
	seriesPrefix = "profile_export_aiperf_"
	// resultEndings are the endings of files that runs write. No program runs files with these endings.
	resultEndings = []string{".csv", ".html", ".json", ".jsonl", ".log", ".parquet", ".png", ".svg", ".txt", ".xml"}
)

// onlyResults reports whether a folder holds results of runs and nothing else. A folder with a program, a module or a file of unknown origin is none.
func onlyResults(dir string) bool {
	all, some := results(dir, false)
	return all && some
}

// results reports whether everything in a folder belongs to results, and whether a run is among them. inRun = the folder lies in that of a run.
func results(dir string, inRun bool) (all, some bool) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return false, false // hashFiles reports it
	}
	some = slices.ContainsFunc(runFiles, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
	inRun = inRun || some
	for _, d := range list {
		switch {
		case strings.HasPrefix(d.Name(), "."): // does not count anywhere
		case d.IsDir():
			below, runs := results(filepath.Join(dir, d.Name()), inRun)
			if !below {
				return false, false
			}
			some = some || runs
		case !isResult(d, inRun):
			return false, false
		}
	}
	return true, some
}

// isResult reports whether a file may be a result: of a run, or of a series if it lies outside the folder of a run.
func isResult(d os.DirEntry, inRun bool) bool {
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 != 0 || !slices.Contains(resultEndings, filepath.Ext(d.Name())) {
		return false
	}
	return inRun || strings.HasPrefix(d.Name(), seriesPrefix) || slices.Contains(seriesFiles, d.Name())
}
