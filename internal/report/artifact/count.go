package artifact

import (
	"os"
	"path/filepath"
)

// Count returns the number of existing files of a run, including the log and the files of its phases.
func (l Layout) Count() (n int) {
	paths := append(l.results(), l.Inputs(), l.Outputs(), l.Log())
	dirs, _ := os.ReadDir(filepath.Join(l.Dir, "phases")) // most runs have no such directory
	for _, d := range dirs {
		phase := l.phase(d.Name())
		paths = append(paths, phase.SummaryJSON(), phase.SummaryCSV())
		for _, name := range phaseFiles {
			paths = append(paths, filepath.Join(phase.Dir, name))
		}
	}
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			n++
		}
	}
	return n
}
