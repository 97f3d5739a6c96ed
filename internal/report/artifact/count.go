package artifact

import (
	"os"
	"path/filepath"
)

// Count returns the number of existing files of a run, including the log and the files of its phases.
func (l Layout) Count() (n int) {
	paths := []string{
		l.SummaryJSON(), l.SummaryCSV(), l.Records(), l.Raw(), l.SlicesCSV(), l.SlicesJSON(), l.Console(), l.GPUTelemetry(), l.Inputs(),
		l.Outputs(), l.Log(), filepath.Join(l.Dir, "phase_manifest.json"),
	}
	for _, format := range []string{"json", "csv", "jsonl", "parquet"} {
		paths = append(paths, l.ServerMetrics(format))
	}
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
