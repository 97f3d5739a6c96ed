package cli

import (
	"fmt"
	"path/filepath"

	"aiperf/internal/artifact"
	htmlpage "aiperf/internal/page"
	"aiperf/internal/runfiles"
)

// pageFile is the report that one can send, in the directory of a run or a series.
const pageFile = "report.html"

// htmlReports writes the report of every run at and below a directory, and of a series one over all of its runs.
func (p *Program) htmlReports(dir string) error {
	runs, err := runfiles.Find([]string{dir}, p.warnf)
	if err != nil {
		return err
	}
	write := func(path string, text []byte, err error) error {
		if err == nil {
			err = artifact.WriteFile(path, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if full, err := filepath.Abs(path); err == nil { // as the other files of a run are told
			path = full
		}
		fmt.Fprintf(p.Out, "HTML Report: %s\n", path)
		return nil
	}
	for _, run := range runs {
		text, err := htmlpage.Run(run, Version())
		if err := write(filepath.Join(run.Dir, pageFile), text, err); err != nil {
			return err
		}
	}
	if len(runs) > 1 {
		text, err := htmlpage.Sweep(dir, runs, pageFile, Version())
		return write(filepath.Join(dir, pageFile), text, err)
	}
	return nil
}
