package plots

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/render"
	"aiperf/internal/report/runfiles"
)

// Options selects what to draw and how.
type Options struct {
	Paths   []string // directories of runs, or their parents
	Config  *Config
	Theme   string   // light, dark
	Presets []string // replaces the defaults of the settings; nil = use those
	Warn    func(format string, args ...any)
	Log     *slog.Logger // nil = no messages
}

// Set holds the charts of some runs.
type Set struct {
	Runs   []*runfiles.Run
	Multi  bool // the charts compare runs
	Charts []*chart.Chart
}

// Make draws every listed preset of the runs below the paths, each as data. Presets for which a run lacks data are reported and omitted.
func Make(o Options) (*Set, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	runs, err := runfiles.Find(o.Paths, o.Warn)
	if err != nil {
		return nil, err
	}
	s := &Set{Runs: runs, Multi: len(runs) > 1}
	section := &o.Config.Single
	if s.Multi {
		section = &o.Config.Multi
		if s.Runs, err = readable(runs, o.Warn); err != nil {
			return nil, err
		}
	}
	_, damage := s.Runs[0].Summary() // for a single run; with several, readable checks them
	if damage != nil {
		o.Warn("%v; drawing charts from the other files", damage)
	}
	chosen := *section
	if o.Presets != nil {
		chosen.Defaults = o.Presets
	}
	presets, err := o.Config.Listed(&chosen)
	if err != nil {
		return nil, err
	}
	draw := drawer(&o, s)
	for _, p := range presets {
		c, err := draw(p)
		var lack *Missing
		switch {
		case errors.As(err, &lack):
			o.Warn("%s: skipped, %v", p.Name, err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		default:
			o.Log.Info("drawn", "plot", p.Name, "type", p.Type, "traces", len(c.Traces))
			c.Source = source(s.Runs)
			s.Charts = append(s.Charts, c)
		}
	}
	if damage != nil && s.Charts == nil {
		return nil, fmt.Errorf("no chart can be drawn: %w", damage)
	}
	return s, nil
}

// source names the runs of an image, with the date of the first and of the last.
func source(runs []*runfiles.Run) string {
	name := runs[0].Name
	if len(runs) > 1 {
		name = terminal.Plural(len(runs), "run")
	}
	var dates []string
	for _, r := range runs {
		if s, err := r.Summary(); err == nil && len(s.Start) >= len(time.DateOnly) {
			dates = append(dates, s.Start[:len(time.DateOnly)])
		}
	}
	if dates == nil {
		return name
	}
	slices.Sort(dates)
	if first, last := dates[0], dates[len(dates)-1]; first != last {
		return name + ", " + first + " to " + last
	}
	return name + ", " + dates[0]
}

// Draw makes the chart of one preset; it compares the runs if there are several. A Missing error says what they lack.
func Draw(o Options, runs []*runfiles.Run, p *Preset) (*chart.Chart, error) {
	return drawer(&o, &Set{Runs: runs, Multi: len(runs) > 1})(p)
}

// drawer returns the function that makes the chart of a preset.
func drawer(o *Options, s *Set) func(*Preset) (*chart.Chart, error) {
	if s.Multi {
		m := &Multi{Runs: s.Runs, Theme: chart.Themes[o.Theme], Classes: o.Config.Classes, Warn: o.Warn}
		return m.Draw
	}
	return (&Single{Run: s.Runs[0], Theme: chart.Themes[o.Theme], Sampling: o.Config.Sampling}).Draw
}

// readable returns the runs whose summary can be read.
func readable(runs []*runfiles.Run, warn func(string, ...any)) ([]*runfiles.Run, error) {
	var list []*runfiles.Run
	for _, r := range runs {
		if _, err := r.Summary(); err != nil {
			warn("%s: skipped: %v", r.Dir, err)
			continue
		}
		list = append(list, r)
	}
	if list == nil {
		return nil, errors.New("none of the runs can be read")
	}
	return list, nil
}

// Formats of images.
const (
	PNG = "png"
	SVG = "svg"
)

// Sizes are the image sizes by name. Text scales with the image, except in small images, where it would be seven pixels high.
var Sizes = map[string]render.Size{
	"small":  {Width: 960, Height: 480, Scale: 5. / 6},
	"medium": {Width: 1600, Height: 800, Scale: 1},
	"large":  render.Standard,
}

// Image renders a chart in an image format.
func Image(c *chart.Chart, theme, format, size string) ([]byte, error) {
	if format == SVG {
		return render.SVG(c, chart.Themes[theme], Sizes[size])
	}
	return render.PNG(c, chart.Themes[theme], Sizes[size])
}

// Write creates a directory and writes the images of the charts and a list of them.
func (s *Set) Write(dir, theme, size string, formats []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, c := range s.Charts {
		for _, format := range formats {
			image, err := Image(c, theme, format, size)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.Name+"."+format), image, 0o666); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "summary.txt"), s.list(dir, formats), 0o666)
}

// list returns the text of summary.txt.
func (s *Set) list(dir string, formats []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "AIPerf plots\n%s\n\nGenerated %s:\n", strings.Repeat("=", 50), Count(len(s.Charts)))
	for _, c := range s.Charts {
		for _, format := range formats {
			fmt.Fprintf(&b, "  - %s.%s: %s\n", c.Name, format, c.Title)
		}
	}
	fmt.Fprintf(&b, "\nOutput directory: %s\n", dir)
	return b.Bytes()
}

// Count returns a number of plots in words.
func Count(n int) string {
	return terminal.Plural(n, "plot")
}
