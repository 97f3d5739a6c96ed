package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/plots"
	"aiperf/internal/report/runfiles"
)

// visualCommand is a command that makes a file from each of some finished runs.
type visualCommand struct {
	dirs []string
	out  string
	name string // name of the file in the directory of the run
}

// flags adds the flags that such commands share.
func (v *visualCommand) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&v.dirs, "run-dirs", nil, "run directories; the flag name is optional")
	f.StringVarP(&v.out, "out", "o", "", "output file, for one run directory only (default "+v.name+" in the run)")
}

// each makes the file of every run. A directory that cannot be read is reported and skipped.
func (v *visualCommand) each(p *Program, words []string, draw func(run *runfiles.Run, path string) error) error {
	dirs := slices.Concat(words, v.dirs)
	switch {
	case len(dirs) == 0:
		return fmt.Errorf("no run directory is given")
	case len(dirs) > 1 && v.out != "":
		p.errorf("--out works with one run directory; %d are given", len(dirs))
		return exitStatus(2)
	}
	done := 0
	for _, dir := range dirs {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && len(dirs) == 1 {
			return boundedfile.Missing(dir)
		}
		path := v.out
		if path == "" {
			path = filepath.Join(dir, v.name)
		}
		if err := draw(runfiles.Open(dir), path); err != nil && len(dirs) == 1 {
			return fmt.Errorf("%s: %w", dir, err)
		} else if err != nil {
			p.warnf("%s: skipped: %v", dir, err)
			continue
		}
		done++
	}
	if done == 0 {
		return exitStatus(1)
	}
	return nil
}

// save writes a file and prints its path.
func (p *Program) save(path string, data []byte) error {
	if err := artifact.WriteFile(path, data); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "saved %s (%d KB)\n", path, (len(data)+1023)/1024)
	return nil
}

// swimLaneCommand builds the command that draws sessions as lanes.
func (p *Program) swimLaneCommand() *cobra.Command {
	v := visualCommand{name: "swim_lane.png"}
	var target int
	var ramp durationValue
	var page bool
	cmd := &cobra.Command{
		Use: "swim-lane RUN-DIR…", Short: "picture of sessions, one lane each, with the concurrency below",
		Long: "Draws every session of a run as a lane: requests solid, delays between turns pale. A session takes the lowest lane that is free. Below: how many requests are active.",
		RunE: func(_ *cobra.Command, words []string) error {
			if target < 0 {
				return fmt.Errorf("--concurrency %d: must be >= 0", target)
			}
			return v.each(p, words, func(run *runfiles.Run, path string) error {
				lanes, err := plots.NewSwimLane(run, target, float64(ramp))
				if err != nil {
					return err
				}
				image, err := lanes.Image(strings.EqualFold(filepath.Ext(path), ".svg"))
				if err != nil {
					return err
				}
				if err := p.save(path, image); err != nil || !page {
					return err
				}
				text, err := lanes.Page()
				if err != nil {
					return err
				}
				return p.save(strings.TrimSuffix(path, filepath.Ext(path))+".html", text)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().IntVarP(&target, "concurrency", "c", 0, "draw this target as a line")
	cmd.Flags().Var(&ramp, "ramp", "length of the ramp to mark, in s; overrides the run's settings")
	cmd.Flags().BoolVar(&page, "html", false, "also write a zoomable HTML page")
	return cmd
}

// turnMessagesCommand builds the command that shows conversations turn by turn.
func (p *Program) turnMessagesCommand() *cobra.Command {
	v := visualCommand{name: "turn_messages.html"}
	o := plots.TurnOptions{}
	cmd := &cobra.Command{
		Use: "turn-messages RUN-DIR…", Short: "page with the messages of every turn",
		Long: "Makes a page of the conversations of a run to read turn by turn. It needs the raw export (--export-level raw) of the run.",
		RunE: func(_ *cobra.Command, words []string) error {
			return v.each(p, words, func(run *runfiles.Run, path string) error {
				page, err := plots.TurnPage(run, o)
				if m, ok := errors.AsType[*plots.Missing](err); ok {
					m.Fix = "repeat the run with --export-level raw"
				}
				if err != nil {
					return err
				}
				return p.save(path, page)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().IntVarP(&o.Conversations, "limit-conversations", "n", 40, "maximum number of conversations, roots first, then the earliest")
	cmd.Flags().IntVar(&o.Turns, "max-turns", 60, "maximum number of turns shown per conversation; the others are counted")
	cmd.Flags().IntVar(&o.Letters, "content-cap", 8000, "maximum number of characters per message")
	return cmd
}
