package rereport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// carryOver copies the telemetry of the run to the result: the raw export does not contain it, and no setting of a report changes it.
func (s *source) carryOver(r *Result) error {
	from, to := artifact.NewLayout(s.Dir, s.Prefix), r.Layout
	var errs []error
	for _, f := range artifact.WatchedFiles {
		switch err := copyFile(f.Path(from), f.Path(to)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, fmt.Errorf("report: %w", err))
		case f.Kind != "":
			r.Run.Files = append(r.Run.Files, metric.File{Kind: f.Kind, Path: f.Path(to)})
		}
	}
	if r.Run.Adaptive == nil { // there are no searches, or the files cannot be read
		return errors.Join(errs...)
	}
	for _, name := range searchFiles(from) {
		if err := copyFile(filepath.Join(from.Dir, name), filepath.Join(to.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("report: %w", err))
		}
	}
	return errors.Join(errs...)
}

// searchFiles lists the files of phases whose load searched for its limit.
func searchFiles(l artifact.Layout) []string {
	names := []string{filepath.Base(l.AdaptiveManifest())}
	phases, _ := os.ReadDir(filepath.Join(l.Dir, "phases")) // on an error there is nothing to copy
	for _, p := range phases {
		names = append(names, artifact.AdaptiveEventsName(p.Name()), artifact.AdaptiveSummaryName(p.Name()))
	}
	return names
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
