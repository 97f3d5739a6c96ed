package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/artifact"
	"aiperf/internal/plots"
	"aiperf/internal/runfiles"
)

// visual is a command that makes a file of each of some finished runs.
type visual struct {
	dirs []string
	out  string
	name string // of the file in the directory of the run
}

// flags are those that such commands share.
func (v *visual) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&v.dirs, "run-dirs", nil, "run directories; words without a flag are taken as well")
	f.StringVarP(&v.out, "out", "o", "", "the file, of one run directory only (default "+v.name+" in the run)")
}

// each makes the file of every run. A directory that cannot be read is told and passed over.
func (v *visual) each(p *Program, words []string, draw func(run *runfiles.Run, path string) error) error {
	dirs := slices.Concat(words, v.dirs)
	switch {
	case len(dirs) == 0:
		return fmt.Errorf("no run directory is given")
	case len(dirs) > 1 && v.out != "":
		p.errorf("--out is the file of one run; %d directories are given", len(dirs))
		return exit(2)
	}
	done := 0
	for _, dir := range dirs {
		path := v.out
		if path == "" {
			path = filepath.Join(dir, v.name)
		}
		if err := draw(runfiles.Open(dir), path); err != nil {
			p.warnf("%s: left out: %v", dir, err)
			continue
		}
		done++
	}
	if done == 0 {
		return exit(1)
	}
	return nil
}

// save writes a file and says so.
func (p *Program) save(path string, data []byte) error {
	if err := artifact.WriteFile(path, data); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "saved %s (%d KB)\n", path, (len(data)+1023)/1024)
	return nil
}

// swimLaneCommand draws sessions as lanes.
func (p *Program) swimLaneCommand() *cobra.Command {
	v := visual{name: "swim_lane.png"}
	var target int
	var ramp length
	var page bool
	cmd := &cobra.Command{
		Use: "swim-lane RUN-DIR…", Short: "one lane a session, with the concurrency below, as a picture",
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
	cmd.Flags().Var(&ramp, "ramp", "mark the end of a ramp of this length, in s, in place of that of the run's settings")
	cmd.Flags().BoolVar(&page, "html", false, "also write a page that zooms")
	return cmd
}

// turnMessagesCommand shows conversations turn by turn.
func (p *Program) turnMessagesCommand() *cobra.Command {
	v := visual{name: "turn_messages.html"}
	o := plots.TurnOptions{}
	cmd := &cobra.Command{
		Use: "turn-messages RUN-DIR…", Short: "the messages of every turn, as a page",
		Long: "Makes a page of the conversations of a run to read turn by turn. It needs the raw export (--export-level raw) of the run.",
		RunE: func(_ *cobra.Command, words []string) error {
			return v.each(p, words, func(run *runfiles.Run, path string) error {
				page, err := plots.TurnPage(run, o)
				if err != nil {
					return err
				}
				return p.save(path, page)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().IntVarP(&o.Conversations, "limit-conversations", "n", 40, "the most conversations, roots first, then the earliest")
	cmd.Flags().IntVar(&o.Turns, "max-turns", 60, "the most turns of a conversation; the others are counted")
	cmd.Flags().IntVar(&o.Letters, "content-cap", 8000, "the most characters of a message")
	return cmd
}
