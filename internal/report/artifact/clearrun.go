package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// results lists files that only a run writes: if one of them exists, there was a run.
func (l Layout) results() []string {
	list := []string{l.SummaryJSON(), l.SummaryCSV(), l.Records(), l.Raw(), l.SlicesCSV(), l.SlicesJSON(), l.Console(), l.phaseManifest(), l.AdaptiveManifest(), l.MLflow()}
	for _, f := range WatchedFiles {
		list = append(list, f.Path(l))
	}
	return list
}

// phaseManifest is the list of the phases.
func (l Layout) phaseManifest() string { return filepath.Join(l.Dir, "phase_manifest.json") }

// phase returns the file names of a phase's own summary: the same as those of the run, but below its own directory, whatever the prefix.
func (l Layout) phase(name string) Layout {
	of := Layout{Dir: filepath.Join(l.Dir, "phases", name), Secrets: l.Secrets, NoJSON: l.NoJSON}
	if l.prefix != "" {
		of.prefix = filepath.Base(l.prefix)
	}
	return of
}

// Clear removes the files of an earlier run, so that files of two runs never lie in one directory. keep reports which files must stay, because the run
// may read them. It returns the number of removed files.
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
	phases, _ := os.ReadDir(filepath.Join(l.Dir, "phases")) // an error means that no run with several phases was there
	for _, p := range phases {
		of := l.phase(p.Name())
		drop(of.SummaryJSON())
		drop(of.SummaryCSV())
		for _, name := range phaseFiles {
			drop(filepath.Join(of.Dir, name))
		}
		drop(l.AdaptiveEvents(p.Name()))
		drop(l.AdaptiveSummary(p.Name()))
		_ = os.Remove(of.Dir) // fails if the user has a file there, which must stay
	}
	_ = os.Remove(filepath.Join(l.Dir, "phases"))
	machines, _ := os.ReadDir(filepath.Join(l.Dir, "machines")) // an error means that no run on several machines was there
	for _, m := range machines {
		for _, file := range MachineFiles {
			drop(l.Machine(m.Name(), file))
		}
		_ = os.Remove(filepath.Dir(l.Machine(m.Name(), "")))
	}
	_ = os.Remove(filepath.Join(l.Dir, "machines"))
	if removed > 0 {
		drop(l.Inputs())
		drop(l.Inputs() + inputsDraft)
		drop(l.Outputs())
		drop(l.Machines())
	}
	return removed, errors.Join(errs...)
}
