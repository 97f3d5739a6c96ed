package cli

import (
	"fmt"
	"path/filepath"

	"aiperf/internal/report/artifact"
	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/report/runfiles"
)

// pageFile is the name of the HTML report in the directory of a run or a series.
const pageFile = "report.html"

// htmlReports writes the report of every run in and below a directory, and for a series one report over all its runs.
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
		if full, err := filepath.Abs(path); err == nil { // print full paths, as for the other files of a run
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
