package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/setting"
	"aiperf/internal/report/artifact"
	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/report/systems"
)

// systemRows returns the flags of a page that compares systems.
func systemRows() []setting.Row {
	return []setting.Row{
		{Flags: []string{"--label"}, Kind: setting.Text, List: true, Whole: true, Help: "names of the systems on the page, in the order of the directories; may be repeated"},
		{Flags: []string{"--color-by"}, Kind: setting.Text, Default: "the system", Help: "configuration key that gives colours and frontiers on the page of systems"},
		{Flags: []string{"--gpus"}, Kind: setting.Int, Bounds: ">= 1", List: true, Default: "those that telemetry saw", Help: "number of GPUs of each system, or one number for all"},
		{Flags: []string{"--gpu-hour-price"}, Kind: setting.Float, Bounds: "> 0", List: true, Help: "price of a GPU hour of each system, or one for all; gives costs"},
	}
}

// systemFlags lists the flags of systemRows.
func systemFlags() (list []string) {
	for _, row := range systemRows() {
		list = append(list, row.Flags[0])
	}
	return list
}

// compareSystems compares the runs of systems, and warns about what a reader must know.
func (p *Program) compareSystems(o systems.Options) (*systems.Comparison, error) {
	o.Warn, o.Spelled = p.warnf, systems.Spelled{Label: "--label", ColorBy: "--color-by", GPUs: "--gpus", Price: "--gpu-hour-price"}
	c, err := systems.Collect(o)
	if err != nil {
		return nil, err
	}
	for _, note := range c.Notes {
		p.warnf("%s", note)
	}
	return c, nil
}

// systemsPage writes one page that compares the runs below the paths as systems; dir is its directory.
func (p *Program) systemsPage(set *setting.CommandLine, paths []string, dir string) error {
	o := systems.Options{Paths: paths, Labels: set.Texts("--label"), Prices: set.Floats("--gpu-hour-price"), ColorBy: set.Text("--color-by", "")}
	for _, n := range set.Ints("--gpus") {
		o.GPUs = append(o.GPUs, int(n))
	}
	c, err := p.compareSystems(o)
	if err != nil {
		return err
	}
	text, err := htmlpage.Systems(c, Version())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, htmlpage.SystemsFile)
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if err := artifact.WriteFile(path, text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(p.Out, "HTML Report: %s\n", path)
	return nil
}
