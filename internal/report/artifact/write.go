package artifact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/measure/metric"
)

// WriteReport writes the files that are made after a run: the summary JSON (unless it is disabled) and CSV, and the time slices if there are any. It
// adds the files to run.Files in the order of the footer. rawPath is the raw export, which belongs between them; "" = none.
func WriteReport(l Layout, run *metric.Run, rawPath string) error {
	if err := os.MkdirAll(filepath.Dir(l.SummaryJSON()), 0o755); err != nil {
		return fmt.Errorf("artifact directory: %w", err)
	}
	var errs []error
	put := func(kind, path string, err error) {
		errs = append(errs, err)
		if err == nil {
			run.Files = append(run.Files, metric.File{Kind: kind, Path: path})
		}
	}
	put("CSV Export", l.SummaryCSV(), WriteSummaryCSV(l.SummaryCSV(), run))
	if !l.NoJSON {
		put("JSON Export", l.SummaryJSON(), WriteSummaryJSON(l.SummaryJSON(), run, l.Secrets))
	}
	if rawPath != "" {
		put("Raw Records", rawPath, nil)
	}
	if run.Slices != nil {
		put("Timeslice CSV Export", l.SlicesCSV(), WriteSlicesCSV(l.SlicesCSV(), run))
		put("Timeslice JSON Export", l.SlicesJSON(), WriteSlicesJSON(l.SlicesJSON(), run, l.Secrets))
	}
	if run.Accuracy != nil {
		put("Accuracy Records", l.Graded(), nil)
		put("Accuracy Results", l.Scores(), WriteScores(l.Scores(), run.Accuracy))
	}
	return errors.Join(errs...)
}
