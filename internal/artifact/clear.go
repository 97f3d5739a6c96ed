package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// results are the files that only a run leaves: where one of them is, a run was.
func (l Layout) results() []string {
	list := []string{l.SummaryJSON(), l.SummaryCSV(), l.Records(), l.Raw(), l.SlicesCSV(), l.SlicesJSON(), l.Console(), l.phaseManifest(), l.AdaptiveManifest(), l.MLflow()}
	for _, f := range WatchedFiles {
		list = append(list, f.Path(l))
	}
	return list
}

// phaseManifest is the list of the phases.
func (l Layout) phaseManifest() string { return filepath.Join(l.Dir, "phase_manifest.json") }

// phase names the files of a phase's own summary: as those of the run, but below its own directory whatever the prefix.
func (l Layout) phase(name string) Layout {
	of := Layout{Dir: filepath.Join(l.Dir, "phases", name), Secrets: l.Secrets, NoJSON: l.NoJSON}
	if l.prefix != "" {
		of.prefix = filepath.Base(l.prefix)
	}
	return of
}

// Clear removes what an earlier run left under these names, so that no file of one run lies beside those of another. keep tells which files
// are not to be touched: the run may read one of them. It returns how many there were.
func (l Layout) Clear(keep func(path string) bool) (removed int, err error) {
	var errs []error
	drop := func(path string) {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || keep(path) {
			return
		}
		if err := os.Remove(path); err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, path := range l.results() {
		drop(path)
	}
	phases, _ := os.ReadDir(filepath.Join(l.Dir, "phases")) // none: no run of several phases was there
	for _, p := range phases {
		of := l.phase(p.Name())
		drop(of.SummaryJSON())
		drop(of.SummaryCSV())
		for _, name := range phaseFiles {
			drop(filepath.Join(of.Dir, name))
		}
		drop(l.AdaptiveEvents(p.Name()))
		drop(l.AdaptiveSummary(p.Name()))
		_ = os.Remove(of.Dir) // stays if the user keeps something there
	}
	_ = os.Remove(filepath.Join(l.Dir, "phases"))
	if removed > 0 {
		drop(l.Inputs())
		drop(l.Inputs() + inputsDraft)
		drop(l.Outputs())
	}
	return removed, errors.Join(errs...)
}
