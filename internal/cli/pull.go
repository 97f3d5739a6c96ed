package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/suggest"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/report/ui"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/dataset/public"
)

// pullCommand builds the command that downloads a public dataset before its use.
func (p *Program) pullCommand() *cobra.Command {
	var subset, repo, to string
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "download of published datasets, or of those of accuracy benchmarks",
		Long: "Downloads the files of a set into the cache that the hub's Python libraries also use (HF_HOME, HF_HUB_CACHE), large files in parallel\n" +
			"parts. An interrupted download continues where it stopped. With --to the files are copied into a directory, which replaces\n" +
			"the repository on machines without a network: --public-dataset-path, --accuracy-dataset-path.",
		Example: "  aiperf dataset pull aimo_aime\n  aiperf dataset pull mmlu --to /media/stick/mmlu",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if to != "" && len(names) > 1 {
				return fmt.Errorf("--to %s: is for one set, not for %s", to, strings.Join(names, ", "))
			}
			for _, name := range names {
				if err := p.pull(cmd.Context(), public.Options{Name: name, Subset: subset, Repo: repo}, to); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&subset, "hf-subset", "", "subset (configuration) of the public dataset")
	f.StringVar(&repo, "hf-weka-dataset", "", "repository of "+public.AnyAgents)
	f.StringVar(&to, "to", "", "directory that gets a copy of the files")
	return cmd
}

// pull downloads one dataset and prints its path.
func (p *Program) pull(ctx context.Context, o public.Options, to string) error {
	set, bench := public.Find(o.Name), accuracy.Find(o.Name)
	if set == nil && bench == nil {
		all := append(public.Names(), accuracy.Names()...)
		if near := suggest.Name(o.Name, all); near != "" {
			return fmt.Errorf("no dataset %q: did you mean %s?", o.Name, near)
		}
		return fmt.Errorf("no dataset %q; aiperf dataset list shows all", o.Name)
	}
	environment := new(config.Benchmark)
	bar := p.newPullBar(o.Name)
	defer bar.close()
	from := hfhub.FromEnv(os.Getenv)
	from.Content, from.Progress, from.Notice = hfhub.Datasets, bar.tick, bar.note
	var snapshot *hfhub.Snapshot
	switch {
	case set != nil:
		o.Hub, o.Cache, o.Spell = from, public.Cache, environment.As
		got, err := public.Pull(ctx, o)
		if err != nil {
			return fmt.Errorf("public dataset %s: %w", o.Name, err)
		}
		bar.close()
		where := got.Path
		if snapshot = got.Snapshot; snapshot != nil {
			where = snapshot.Folder()
		}
		if _, err := fmt.Fprintf(p.Out, "%s: %d files, %s in %s\n", o.Name, got.Files, hfhub.Size(got.Bytes), where); err != nil {
			return err
		}
		if snapshot == nil && to != "" {
			return fmt.Errorf("--to: %s is a single file; copy it into its own directory", got.Path)
		}
	default:
		loaded, err := accuracy.Load(ctx, accuracy.Options{Benchmark: o.Name, Hub: from, Release: p.release(), Spell: environment.As})
		if err != nil {
			return err
		}
		bar.close()
		from.Content = hfhub.Datasets
		snapshot = from.Stored(bench.Repo, "main")
		if _, err := fmt.Fprintf(p.Out, "%s: %d problems in %s\n", o.Name, len(loaded.Problems), snapshot.Folder()); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	n, err := snapshot.CopyTo(to)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	_, err = fmt.Fprintf(p.Out, "%s: %d files copied to %s\n", o.Name, n, filepath.Clean(to))
	return err
}

// release returns the release of LiveCodeBench that the environment selects.
func (p *Program) release() string {
	environment := config.DefaultEnvironment()
	_, _ = resolve.ReadEnvironment(p.Environ, &environment) // other errors are reported by a run
	return environment.Accuracy.LCBReleaseTag
}

// pullBar shows the progress of downloads: in a live line on a terminal, otherwise in occasional lines.
type pullBar struct {
	name   string
	screen *ui.Screen // nil = no terminal
	p      *Program
	mu     sync.Mutex
	done   map[string]int64 // bytes of files, in progress and finished
	total  map[string]int64
	first  map[string]int64 // bytes that existed when a download began
	began  time.Time
	last   time.Time
}

// Pauses between two updates of the live line, and between two lines without a terminal.
const (
	pullRedraw = 100 * time.Millisecond
	pullLine   = 5 * time.Second
)

func (p *Program) newPullBar(name string) *pullBar {
	b := &pullBar{name: name, p: p, done: map[string]int64{}, total: map[string]int64{}, first: map[string]int64{}, began: time.Now(), last: time.Now()}
	if p.Progress > 0 {
		b.screen = ui.NewScreen(p.Err)
	}
	return b
}

// tick reports the progress of a file.
func (b *pullBar) tick(file string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.done[file]; !known {
		b.first[file] = done
		if done > 0 && done < total {
			b.say(fmt.Sprintf("%s: %s continues after %s", b.name, file, hfhub.Size(done)))
		}
	}
	b.done[file], b.total[file] = done, max(total, done)
	pause := pullRedraw
	if b.screen == nil {
		pause = pullLine
	}
	if now := time.Now(); now.Sub(b.last) >= pause {
		b.last = now
		if b.screen != nil {
			b.screen.Draw(terminal.Line(b.line(now)))
		} else {
			b.say(b.line(now))
		}
	}
}

// line describes the progress of all files in one line.
func (b *pullBar) line(now time.Time) string {
	var done, total, came int64
	whole := 0
	for file, n := range b.done {
		done, total, came = done+n, total+b.total[file], came+n-b.first[file]
		if n == b.total[file] {
			whole++
		}
	}
	text := fmt.Sprintf("%s: %d of %d files, %s of %s", b.name, whole, len(b.done), hfhub.Size(done), hfhub.Size(total))
	rate := float64(came) / max(0.001, now.Sub(b.began).Seconds())
	if came > 0 && now.Sub(b.began) > time.Second {
		text += fmt.Sprintf(", %s/s, %v left", hfhub.Size(int64(rate)), (time.Duration(float64(total-done)/rate) * time.Second).Round(time.Second))
	}
	return text
}

// note prints a message of the hub.
func (b *pullBar) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.say(text)
}

func (b *pullBar) say(text string) {
	line := terminal.Line(text) + "\n"
	if b.screen != nil {
		_, _ = b.screen.Write([]byte(line)) // errors of the terminal are ignored
		return
	}
	_, _ = fmt.Fprint(b.p.Err, line)
}

// close removes the live line.
func (b *pullBar) close() {
	if b.screen != nil {
		b.screen.Clear()
	}
}
