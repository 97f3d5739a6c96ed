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

	"aiperf/internal/accuracy"
	"aiperf/internal/config"
	"aiperf/internal/dataset/public"
	"aiperf/internal/hub"
	"aiperf/internal/suggest"
	"aiperf/internal/terminal"
	"aiperf/internal/ui"
)

// pullCommand fetches a published dataset ahead of its use.
func (p *Program) pullCommand() *cobra.Command {
	var subset, repo, to string
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Fetch published datasets, or those of accuracy benchmarks, ahead of their use",
		Long: "Brings the files of a set into the cache that the Python libraries of the hub share (HF_HOME, HF_HUB_CACHE), large files in parts\n" +
			"side by side. A download that was cut off goes on where it stopped. With --to the files are copied into a directory, which stands for\n" +
			"the repository on machines without a network: --public-dataset-path, --accuracy-dataset-path.",
		Example: "  aiperf dataset pull aimo_aime\n  aiperf dataset pull mmlu --to /media/stick/mmlu",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if to != "" && len(names) > 1 {
				return fmt.Errorf("--to %s: is for one set, found %s", to, strings.Join(names, ", "))
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

// pull fetches one set and tells where it lies.
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
	from := hub.FromEnv(os.Getenv)
	from.Content, from.Progress, from.Notice = hub.Datasets, bar.tick, bar.note
	var snapshot *hub.Snapshot
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
		if _, err := fmt.Fprintf(p.Out, "%s: %d files, %s in %s\n", o.Name, got.Files, hub.Size(got.Bytes), where); err != nil {
			return err
		}
		if snapshot == nil && to != "" {
			return fmt.Errorf("--to: %s is one file; copy it into a directory of its own", got.Path)
		}
	default:
		loaded, err := accuracy.Load(ctx, accuracy.Options{Benchmark: o.Name, Hub: from, Release: p.release(), Spell: environment.As})
		if err != nil {
			return err
		}
		bar.close()
		from.Content = hub.Datasets
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

// release is the release of LiveCodeBench that the environment names.
func (p *Program) release() string {
	environment := config.DefaultEnvironment()
	_, _ = readEnvironment(p.Environ, &environment) // a run tells what is wrong with others
	return environment.Accuracy.LCBReleaseTag
}

// pullBar shows how far downloads are: a live line at a terminal, else a line now and then.
type pullBar struct {
	name   string
	screen *ui.Screen // nil = no terminal
	p      *Program
	mu     sync.Mutex
	done   map[string]int64 // bytes of files on their way and finished
	total  map[string]int64
	first  map[string]int64 // what was there when a file began
	began  time.Time
	last   time.Time
}

// Pauses between two drawings of the line, and between two lines where there is no terminal.
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

// tick is told how far a file is.
func (b *pullBar) tick(file string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.done[file]; !known {
		b.first[file] = done
		if done > 0 && done < total {
			b.say(fmt.Sprintf("%s: %s goes on after %s", b.name, file, hub.Size(done)))
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

// line is one line about all files so far.
func (b *pullBar) line(now time.Time) string {
	var done, total, came int64
	whole := 0
	for file, n := range b.done {
		done, total, came = done+n, total+b.total[file], came+n-b.first[file]
		if n == b.total[file] {
			whole++
		}
	}
	text := fmt.Sprintf("%s: %d of %d files, %s of %s", b.name, whole, len(b.done), hub.Size(done), hub.Size(total))
	rate := float64(came) / max(0.001, now.Sub(b.began).Seconds())
	if came > 0 && now.Sub(b.began) > time.Second {
		text += fmt.Sprintf(", %s/s, %v left", hub.Size(int64(rate)), (time.Duration(float64(total-done)/rate) * time.Second).Round(time.Second))
	}
	return text
}

// note tells what the hub has to say.
func (b *pullBar) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.say(text)
}

func (b *pullBar) say(text string) {
	line := terminal.Line(text) + "\n"
	if b.screen != nil {
		_, _ = b.screen.Write([]byte(line)) // a terminal that is gone is no reason to stop
		return
	}
	_, _ = fmt.Fprint(b.p.Err, line)
}

// close takes the live line away.
func (b *pullBar) close() {
	if b.screen != nil {
		b.screen.Clear()
	}
}
