package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/run/kube"
)

const kubeProfileLong = "Runs a benchmark on a cluster: creates its Jobs, follows the run, fetches its files into the usual folder, and deletes what it made. Accepts every flag of profile; " +
	"the machines are the worker pods.\n\n" +
	"Ctrl-C stops the run, fetches its files and deletes it. A second Ctrl-C leaves; the run is still there for kube attach, results and delete.\n\n" +
	"Small data files travel in a ConfigMap, larger ones are sent to the controller before the run starts. --volume-claims mounts a volume. Secrets of the settings, such as the API key, are in a Secret.\n\n" +
	"The command ends with the exit status of the run."

// followRows are the flags of commands that start and follow a run.
func followRows() []setting.Row {
	return []setting.Row{
		{Flags: []string{"--detach", "-d"}, Kind: setting.Bool, Help: "start the run and return"},
		{Flags: []string{"--no-wait"}, Kind: setting.Bool, Help: "return as soon as the controller runs"},
		{Flags: []string{"--attach-port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", NoEffect: "no local port is needed", Help: "local port to the controller"},
		{Flags: []string{"--skip-endpoint-check"}, Kind: setting.Bool, NoEffect: "the run itself checks its server", Help: "no check of the server before the run"},
		{Flags: []string{"--keep"}, Kind: setting.Bool, Help: "do not delete the run after its files were fetched"},
		{Flags: []string{"--dry-run"}, Kind: setting.Bool, Help: "check everything and print what would be created, without secrets"},
	}
}

func kubeProfileTable() *setting.Table {
	return setting.NewTable(podRows(), followRows(), clusterRows())
}

// kubeProfile builds the command that runs a benchmark on a cluster.
func (p *Program) kubeProfile() *cobra.Command {
	return p.overProfile("profile", "benchmark on a cluster: start, follow, fetch, delete", kubeProfileLong, kubeProfileTable, p.profileOnCluster)
}

const kubeSweepLong = "Runs a series on a cluster, with the same pods for all of its runs: lists of values (--concurrency 1,2,4), searches, and repetitions. Otherwise it is kube profile.\n\n" +
	"--trials and --cooldown are other names of --num-profile-runs and --profile-run-cooldown-seconds."

func kubeSweepTable() *setting.Table {
	return setting.NewTable(podRows(), followRows(), clusterRows(), []setting.Row{
		{Flags: []string{"--trials"}, Kind: setting.Int, Bounds: ">= 1", Help: "repetitions of each run"},
		{Flags: []string{"--cooldown"}, Kind: setting.Float, Unit: "s", Bounds: ">= 0", Default: "0", Help: "pause between runs, in s"},
		{Flags: []string{"--min-runs"}, Kind: setting.Int, NotBuilt: true, Help: "fewest repetitions before a series may settle"},
		{Flags: []string{"--max-runs"}, Kind: setting.Int, NotBuilt: true, Help: "most repetitions until a series settles"},
	})
}

// kubeSweep builds the command that runs a series on a cluster.
func (p *Program) kubeSweep() *cobra.Command {
	return p.overProfile("sweep", "series of runs on a cluster", kubeSweepLong, kubeSweepTable, func(ctx context.Context, own *setting.CommandLine, words []string) (int, error) {
		for _, flag := range []string{"--min-runs", "--max-runs"} {
			if own.Has(flag) {
				return 1, fmt.Errorf("%s: use --trials, or --num-profile-runs with --convergence-metric", flag)
			}
		}
		if list := own.Ints("--trials"); len(list) > 0 {
			words = append(words, "--num-profile-runs", fmt.Sprint(list[0]))
		}
		if list := own.Floats("--cooldown"); len(list) > 0 && list[0] > 0 {
			words = append(words, "--profile-run-cooldown-seconds", fmt.Sprint(list[0]))
		}
		return p.profileOnCluster(ctx, own, words)
	})
}

// longestCommand is the length of the longest command line that a report shows, bytes.
const longestCommand = 8 << 10

// kubeFlagSecret returns the secret part of a flag's values of kube profile. Variables of pods may be secrets, and a report is shared more widely than a Job.
func kubeFlagSecret(flag string) (redact.ArgKind, bool) {
	if flag == "--env-vars" {
		return redact.Secret, true
	}
	return config.FlagSecret(flag)
}

// profileOnCluster runs a benchmark on a cluster.
func (p *Program) profileOnCluster(ctx context.Context, own *setting.CommandLine, words []string) (int, error) {
	c, err := p.clusterRunOf(ctx, own, words)
	if err != nil || c == nil {
		return 1, err
	}
	if own.True("--dry-run", false) {
		return 0, p.printObjects(c.spec.Objects())
	}
	cluster, err := p.openCluster(own)
	if err != nil {
		return 1, err
	}
	if line := redact.Args(Words(os.Args), kubeFlagSecret); len(strings.Join(line, " ")) <= longestCommand {
		c.spec.Command = line
	}
	if err := p.addMetricsPages(ctx, cluster, c); err != nil {
		return 1, err
	}
	keys, err := p.keysFor(c.spec, cluster.Namespace())
	if err != nil {
		return 1, err
	}
	done := func(status int) int { return status }
	if p.Watch != nil {
		ctx, done = p.Watch(ctx, &signalTexts{
			out:   p.Err,
			first: "the run is being stopped; its files follow\n        a second signal leaves now", second: "leaving; come back with: aiperf kube attach " + c.spec.Name,
		})
	}
	status, err := p.runOnCluster(ctx, cluster, c, keys, own)
	return done(status), err
}

// runOnCluster creates a run, follows it, fetches its files and deletes it.
func (p *Program) runOnCluster(ctx context.Context, cluster kube.Cluster, c *clusterRun, keys map[string][]byte, own *setting.CommandLine) (int, error) {
	if err := kube.Apply(ctx, cluster, c.spec, keys); err != nil {
		return 1, err
	}
	name := c.spec.Name
	p.printErr("note: run %s has %s in namespace %s", name, terminal.Plural(int64(c.spec.Workers), "worker"), cluster.Namespace())
	if own.True("--detach", false) && len(c.spec.Uploads) == 0 {
		p.printErr("note: follow it with: aiperf kube attach %s; its files: aiperf kube results %s", name, name)
		return 0, nil
	}
	f := followerOf(p, cluster)
	local := newLocalPaths(p.Out, kube.ResultsDir, c.dir, "warning: "+path.Join(kube.ConfigDir, kube.ConfigFile)) // warnings about settings were printed before
	f.Out = local
	remove := func() error {
		if own.True("--keep", false) {
			return nil
		}
		_, err := kube.Remove(context.WithoutCancel(ctx), cluster, name)
		if err == nil {
			p.printErr("note: run %s was deleted from the cluster (--keep keeps it)", name)
		}
		return err
	}
	run, err := f.Await(ctx, name)
	if err == nil {
		err = p.sendData(ctx, f, run, c.spec.Uploads)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped before the run began; nothing was sent")
		}
		return 1, errors.Join(err, remove())
	}
	if own.True("--no-wait", false) || own.True("--detach", false) {
		p.printErr("note: the run has begun; follow it with: aiperf kube attach %s", name)
		return 0, nil
	}
	p.printErr("note: see it live: aiperf kube dashboard %s", name)
	hide := func() error { return nil }
	if c.view == config.UIDashboard && p.Dashboard != nil {
		hide = p.showRun(context.WithoutCancel(ctx), f, run, interruptSelf, func() bool { return ctx.Err() != nil }, c.dir, fullScreen)
	}
	status, err := p.followStoppable(ctx, f, run)
	err = errors.Join(err, hide())
	if err = errors.Join(err, local.flush()); err != nil {
		return 1, fmt.Errorf("%w; look at it with: aiperf kube debug --job-id %s", err, name)
	}
	if err := p.fetch(context.WithoutCancel(ctx), f, run, c.dir, allFiles); err != nil {
		return 1, fmt.Errorf("%w; try again with: aiperf kube results %s", err, name)
	}
	return status, remove()
}

// sendData sends the data files of a run that no ConfigMap holds.
func (p *Program) sendData(ctx context.Context, f *kube.Follower, run *kube.Run, files []kube.Upload) error {
	if len(files) == 0 {
		return nil
	}
	if err := f.Upload(ctx, run, files); err != nil {
		return err
	}
	p.printErr("note: the run has its %s", terminal.Plural(int64(len(files)), "data file"))
	return nil
}

// watchServer tells a run about the pods of its server, which the pods of the run may not see. The returned function ends that.
func watchServer(ctx context.Context, f *kube.Follower, run *kube.Run) func() {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.WatchServer(ctx, run)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// cancelLimit is the longest wait until a run has heard that it shall stop.
const cancelLimit = time.Minute

// followStoppable follows a run. When the user interrupts, it stops the run and follows it to its end.
func (p *Program) followStoppable(ctx context.Context, f *kube.Follower, run *kube.Run) (int, error) {
	always := context.WithoutCancel(ctx)
	defer watchServer(always, f, run)()
	followed := make(chan struct{})
	go func() {
		select {
		case <-followed:
		case <-ctx.Done():
			if err := cancelRun(always, f.Cluster, run); err != nil {
				p.warnf("the run could not be stopped: %v", err)
			}
		}
	}()
	state, err := f.Follow(always, run)
	close(followed)
	if err == nil && state.Reason != "" {
		err = errors.New(state.Reason)
	}
	return state.Status, err
}

// cancelRun stops a run on a cluster as Ctrl-C does.
func cancelRun(ctx context.Context, cluster kube.Cluster, run *kube.Run) error {
	ctx, cancel := context.WithTimeout(ctx, cancelLimit)
	defer cancel()
	for {
		remote, err := kube.NewRemote(ctx, cluster, run)
		if err == nil {
			err = remote.Cancel(ctx)
			remote.Close()
		}
		if err == nil || errors.Is(err, kube.ErrNoPod) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// allFiles selects every file of a run but its live state.
func allFiles(name string) bool { return name != "logs/live" }

// fetch copies the files of a run into a folder and says so.
func (p *Program) fetch(ctx context.Context, f *kube.Follower, run *kube.Run, dir string, wanted func(string) bool) error {
	got, err := f.Fetch(ctx, run, dir, wanted)
	if err != nil {
		return err
	}
	p.printErr("note: %s of run %s in %s", terminal.Plural(int64(got.Files), "file"), run.Name, dir)
	return nil
}

// printObjects prints objects as YAML.
func (p *Program) printObjects(objects []kube.Object) error {
	text, err := kube.YAML(objects)
	if err == nil {
		_, err = p.data().Write(text)
	}
	return err
}
