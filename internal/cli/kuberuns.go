package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/podserver"
)

// kindRow is the flag that says whether a run or a series is meant.
func kindRow() setting.Row {
	return setting.Row{Flags: []string{"--kind"}, Kind: setting.Enum, Choices: []string{kube.KindRun, kube.KindSweep}, Help: "only a single run, or only a series"}
}

// forgiveRow is the flag that accepts a run that does not exist.
func forgiveRow() setting.Row {
	return setting.Row{Flags: []string{"--ignore-not-found"}, Kind: setting.Bool, Help: "status 0 if there is no such run"}
}

// forgiven drops the error about a run that does not exist if the user asked for that.
func (k *kubeCall) forgiven(err error) error {
	if kube.Is(err, kube.NotFound) && k.set.True("--ignore-not-found", false) {
		k.printErr("note: %v", err)
		return nil
	}
	return err
}

func (p *Program) kubeAttach() *cobra.Command {
	port := setting.Row{Flags: []string{"--port", "-p"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", NoEffect: "no local port is needed", Help: "local port to the controller"}
	return p.kubeCommandOf(kubeCommand{
		use: "attach [RUN]", short: "follow a run on a cluster", words: true, rows: slices.Concat([]setting.Row{runRow(), port, forgiveRow()}, viewRows(), seriesRows(true)),
		long: "Follows a run to its end: on a terminal in the same live view as a local run, else as its output. Its output from the beginning is printed at the end, or at once without the view. Ctrl-C leaves; the run continues. The command ends with the exit status of the run.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, err := k.found(ctx)
			if err != nil {
				return 0, k.forgiven(err)
			}
			f, name := k.follower(), run.Name
			run, err = f.Await(ctx, name)
			if err != nil {
				return leftRun(ctx, k.Program, name, err)
			}
			ctx, leave := context.WithCancel(ctx)
			defer leave()
			hide := k.attachView(ctx, f, run, leave)
			unwatch := watchServer(ctx, f, run)
			state, err := f.Follow(ctx, run)
			unwatch()
			err = errors.Join(err, hide())
			if err != nil {
				return leftRun(ctx, k.Program, name, err)
			}
			k.printErr("note: the run has ended; its files wait for %d s: aiperf kube results %s", state.Left, run.Name)
			return state.Status, nil
		},
	})
}

// attachView shows a run that is followed, as the user wants it. The returned function ends that.
func (k *kubeCall) attachView(ctx context.Context, f *kube.Follower, run *kube.Run, leave func()) (hide func() error) {
	kind := k.set.Text("--ui", "")
	switch {
	case kind == "dashboard" && k.Dashboard == nil:
		k.warnf("%s dashboard needs a terminal", k.set.Spelled("--ui"))
	case kind != "none" && k.Dashboard != nil:
		return k.showRun(ctx, f, run, leave, nil, "", fullScreen)
	}
	return func() error { return nil }
}

// viewRows are the flags of the live view of a run that is followed. Without the view, the output of the pods is printed.
func viewRows() []setting.Row {
	rows := rowsOfProfile([2]string{"--ui", "dashboard; none without a terminal"})
	for i := range rows {
		rows[i].Choices = []string{"dashboard", "none"}
	}
	return rows
}

// leftRun replaces the error of a user who leaves by a note.
func leftRun(ctx context.Context, p *Program, run string, err error) (int, error) {
	if ctx.Err() == nil {
		return 1, err
	}
	p.printErr("note: run %s continues; come back with: aiperf kube attach %s", run, run)
	return 0, nil
}

func (p *Program) kubeResults() *cobra.Command {
	rows := []setting.Row{
		runRow(),
		{Flags: []string{"--output"}, Kind: setting.Path, Default: "artifacts/RUN", Help: "folder for the files"},
		{Flags: []string{"--all", "-a"}, FalseNames: []string{"--summary-only"}, Kind: setting.Bool, Default: "true", Help: "all files; otherwise only summaries, tables and reports"},
		{Flags: []string{"--shutdown"}, Kind: setting.Bool, Help: "delete the run when its files are here"},
		{Flags: []string{"--from-pods"}, Kind: setting.Bool, NoEffect: "files always come from the controller's pod", Help: "fetch from pods"},
		{Flags: []string{"--port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", NoEffect: "no local port is needed", Help: "local port to the controller"},
		{Flags: []string{"--operator-namespace"}, Kind: setting.Text, NotBuilt: true, Help: "namespace of an operator; there is none"},
		{Flags: []string{"--run"}, Kind: setting.Text, NotBuilt: true, Help: "earlier run of an operator's job; each run has a name here"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "results [RUN]", short: "files of a run on a cluster, fetched and checked", words: true, rows: append(rows, seriesRows(true)...),
		long: "Fetches the files of a run that has ended. Files that are here already are not fetched again, an interrupted file continues where it ended, and every file is checked by its SHA-256.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, remote, err := k.ended(ctx)
			if err != nil {
				return 1, err
			}
			defer remote.Close()
			all, wanted := k.set.True("--all", true), allFiles
			if !all {
				wanted = isSmallResult
			}
			if err := k.fetch(ctx, k.follower(), run, k.set.Text("--output", filepath.Join("artifacts", run.Name)), wanted); err != nil {
				return 1, err
			}
			switch {
			case k.set.True("--shutdown", false):
				_, err = kube.Remove(ctx, k.cluster, run.Name)
			case all:
				err = remote.Fetched(ctx)
			}
			return 0, err
		},
	})
}

// isSmallResult selects small files with results.
func isSmallResult(name string) bool {
	return slices.Contains([]string{".json", ".csv", ".txt", ".html"}, path.Ext(name)) && path.Base(name) != "inputs.json"
}

// ended returns the run that the command line names and its controller, if its files can be fetched. The caller closes the controller.
func (k *kubeCall) ended(ctx context.Context) (*kube.Run, *kube.Remote, error) {
	run, err := k.found(ctx)
	if err != nil {
		return nil, nil, err
	}
	remote, err := kube.NewRemote(ctx, k.cluster, run)
	if err != nil {
		if errors.Is(err, kube.ErrNoPod) && run.Problem != "" {
			err = fmt.Errorf("%w: %s", err, run.Problem)
		}
		return nil, nil, err
	}
	state, err := remote.State(ctx)
	if err == nil && state.Phase != podserver.Finished {
		err = fmt.Errorf("run %s has not ended; follow it with aiperf kube attach %s, or stop it with aiperf kube cancel %s", run.Name, run.Name, run.Name)
	}
	if err != nil {
		remote.Close()
		return nil, nil, err
	}
	return run, remote, nil
}

func (p *Program) kubeListRuns() *cobra.Command {
	rows := []setting.Row{
		runRow(), {Flags: []string{"--output", "-o"}, Kind: setting.Enum, Choices: []string{"text", "json"}, Default: "text", Help: "format"},
		{Flags: []string{"--preview"}, Kind: setting.Bool, NotBuilt: true, Help: "main figures of each run"},
		{Flags: []string{"--operator-namespace"}, Kind: setting.Text, NotBuilt: true, Help: "namespace of an operator; there is none"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "list-runs [RUN]", short: "runs of a series on a cluster", words: true, rows: append(rows, seriesRows(true)...),
		long: "Lists the runs of a series that has ended, by the folders of their files. A single run has one.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, remote, err := k.ended(ctx)
			if err != nil {
				return 1, err
			}
			defer remote.Close()
			files, err := remote.Files(ctx)
			if err != nil {
				return 1, err
			}
			folders := []string{}
			for _, f := range files {
				if path.Ext(f.Name) == ".jsonl" && strings.HasSuffix(f.Name, "profile_export.jsonl") {
					folders = append(folders, path.Dir(f.Name))
				}
			}
			if k.set.Text("--output", "text") == "json" {
				return 0, json.NewEncoder(k.data()).Encode(map[string]any{"run": run.Name, "folders": folders})
			}
			for _, folder := range folders {
				fmt.Fprintln(k.Out, terminal.Text(folder))
			}
			return 0, nil
		},
	})
}

func (p *Program) kubeLogs() *cobra.Command {
	rows := []setting.Row{
		runRow(), {Flags: []string{"--container"}, Kind: setting.Text, Default: "controller", Help: "controller, worker (all of them), or the name of a pod"},
		{Flags: []string{"--follow", "-f"}, Kind: setting.Bool, Help: "continue until the container ends"},
		{Flags: []string{"--tail"}, Kind: setting.Int, Bounds: ">= 0", Default: "all", Help: "number of lines at the end"},
		{Flags: []string{"--output", "-o"}, Kind: setting.Path, Default: "standard output", Help: "file to write"}, forgiveRow(),
	}
	return p.kubeCommandOf(kubeCommand{
		use: "logs [RUN]", short: "what the pods of a run have printed", words: true, rows: append(rows, seriesRows(true)...),
		long: "Prints the output of the controller, of the workers, or of one pod.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, err := k.found(ctx)
			if err != nil {
				return 0, k.forgiven(err)
			}
			return 0, k.logs(ctx, run)
		},
	})
}

// logs prints the output of pods of a run.
func (k *kubeCall) logs(ctx context.Context, run *kube.Run) error {
	which := k.set.Text("--container", kube.RoleController)
	pods := run.PodNames(which)
	if which != kube.RoleController && which != kube.RoleWorker {
		pods = slices.DeleteFunc(run.PodNames(""), func(name string) bool { return name != which })
	}
	if len(pods) == 0 {
		return fmt.Errorf("run %s has no pod %s; its pods: %s", run.Name, which, strings.Join(run.PodNames(""), ", "))
	}
	follow := k.set.True("--follow", false)
	if follow && len(pods) > 1 {
		return fmt.Errorf("--follow shows one pod at a time; name it with --container: %s", strings.Join(pods, ", "))
	}
	out := k.Out
	if file := k.set.Text("--output", ""); file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	for _, pod := range pods {
		if len(pods) > 1 {
			fmt.Fprintf(out, "==> %s <==\n", pod)
		}
		text, err := k.cluster.Log(ctx, kube.LogOptions{Pod: pod, Follow: follow, Tail: oneInt(k.set, "--tail", -1)})
		if err != nil {
			return err
		}
		_, err = io.Copy(out, text)
		if err = errors.Join(err, text.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) kubeCancel() *cobra.Command {
	return p.kubeCommandOf(kubeCommand{
		use: "cancel [RUN]", short: "stop a run on a cluster", words: true, rows: append([]setting.Row{runRow(), kindRow()}, seriesRows(true)...),
		long: "Stops a run as Ctrl-C does: it sends nothing more and writes its report. Its files can be fetched then. A run whose pods do not run yet is deleted instead.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, err := k.found(ctx)
			if err != nil {
				return 1, err
			}
			switch err := cancelRun(ctx, k.cluster, run); {
			case errors.Is(err, kube.ErrNoPod) && (run.State == kube.Pending || run.State == kube.Queued):
				_, err := kube.Remove(ctx, k.cluster, run.Name)
				if err == nil {
					k.printErr("note: run %s had not begun and was deleted", run.Name)
				}
				return 0, err
			case err != nil:
				return 1, err
			}
			k.printErr("note: run %s stops; its files: aiperf kube results %s", run.Name, run.Name)
			return 0, nil
		},
	})
}

func (p *Program) kubeShutdown() *cobra.Command {
	port := setting.Row{Flags: []string{"--local-port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", NoEffect: "no local port is needed", Help: "local port to the controller"}
	return p.kubeCommandOf(kubeCommand{
		use: "shutdown [RUN]", short: "end the controller of a finished run", words: true, rows: []setting.Row{runRow(), port},
		long: "Ends the controller of a run that has ended, which waits for somebody to fetch the files. They are gone then.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			_, remote, err := k.ended(ctx)
			if err != nil {
				return 1, err
			}
			defer remote.Close()
			return 0, remote.Shutdown(ctx)
		},
	})
}

func (p *Program) kubeDelete() *cobra.Command {
	force := setting.Row{Flags: []string{"--force", "-f"}, Kind: setting.Bool, Help: "also a run that still runs, or whose files were not fetched"}
	return p.kubeCommandOf(kubeCommand{
		use: "delete [RUN]", short: "delete a run on a cluster", words: true, rows: []setting.Row{runRow(), force, kindRow()},
		long: "Deletes all objects of a run. The files that were not fetched are gone then, so a run that still has them needs --force.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, err := k.found(ctx)
			if err != nil {
				return 1, err
			}
			if (run.State == kube.Running || run.State == kube.Finished) && !k.set.True("--force", false) && !k.isFetched(ctx, run) {
				return 1, fmt.Errorf("run %s is %s and its files would be lost; fetch them with aiperf kube results %s, or add --force", run.Name, run.State, run.Name)
			}
			n, err := kube.Remove(ctx, k.cluster, run.Name)
			if err == nil {
				k.printErr("note: run %s: %s deleted", run.Name, terminal.Plural(int64(n), "object"))
			}
			return 0, err
		},
	})
}

// isFetched reports whether somebody has all files of a run that has ended.
func (k *kubeCall) isFetched(ctx context.Context, run *kube.Run) bool {
	remote, err := kube.NewRemote(ctx, k.cluster, run)
	if err != nil {
		return false
	}
	defer remote.Close()
	state, err := remote.State(ctx)
	return err == nil && state.Fetched
}

func (p *Program) kubeCleanup() *cobra.Command {
	rows := []setting.Row{
		{Flags: []string{"--all", "-a"}, Kind: setting.Bool, Help: "also runs whose files were not fetched"},
		{Flags: []string{"--force", "-f"}, Kind: setting.Bool, Help: "with --all: also runs that still run"},
		{Flags: []string{"--dry-run"}, Kind: setting.Bool, Help: "only list them"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "cleanup", short: "delete runs of a namespace that have ended", rows: rows, long: "Deletes the runs of a namespace that have ended or failed.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			runs, err := kube.Runs(ctx, k.cluster)
			if err != nil {
				return 1, err
			}
			for _, run := range runs {
				if !k.isCleanedUp(run) {
					continue
				}
				if k.set.True("--dry-run", false) {
					fmt.Fprintf(k.Out, "%s (%s) would be deleted\n", run.Name, run.State)
					continue
				}
				if _, err := kube.Remove(ctx, k.cluster, run.Name); err != nil {
					return 1, err
				}
				fmt.Fprintf(k.Out, "%s (%s) deleted\n", run.Name, run.State)
			}
			return 0, nil
		},
	})
}

// isCleanedUp reports whether cleanup deletes a run.
func (k *kubeCall) isCleanedUp(run *kube.Run) bool {
	all := k.set.True("--all", false)
	switch run.State {
	case kube.Complete, kube.Failed:
		return true
	case kube.Finished:
		return all
	}
	return all && k.set.True("--force", false)
}

func (p *Program) kubeList() *cobra.Command {
	rows := []setting.Row{
		runRow(), {Flags: []string{"--all-namespaces", "-A"}, Kind: setting.Bool, Default: "true without --namespace", Help: "runs of all namespaces"},
		{Flags: []string{"--running"}, Kind: setting.Bool, Help: "only runs that have not ended"},
		{Flags: []string{"--completed"}, Kind: setting.Bool, Help: "only runs that have ended"},
		{Flags: []string{"--failed"}, Kind: setting.Bool, Help: "only runs that have failed"},
		{Flags: []string{"--wide", "-w"}, Kind: setting.Bool, Help: "also model and server"},
		{Flags: []string{"--watch"}, Kind: setting.Bool, Help: "print the list again when it changes, until Ctrl-C"},
		{Flags: []string{"--interval"}, Kind: setting.Int, Bounds: ">= 1", Default: "5", Help: "time between two looks of --watch, in s"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "list [RUN]", short: "runs on a cluster and their state", words: true, rows: rows,
		long: "Lists the runs on a cluster: pending (pods do not run yet), queued, running, finished (files wait to be fetched), complete, failed. Without the right to list all namespaces it lists one.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			last := ""
			for {
				text, err := k.listing(ctx)
				if err != nil {
					return 1, err
				}
				if text != last {
					last = text
					fmt.Fprint(k.Out, terminal.Text(text))
					k.flush()
				}
				if !k.set.True("--watch", false) {
					return 0, nil
				}
				select {
				case <-ctx.Done():
					return 0, nil
				case <-time.After(time.Duration(oneInt(k.set, "--interval", 5)) * time.Second):
				}
			}
		},
	})
}

// listing returns the table of runs.
func (k *kubeCall) listing(ctx context.Context) (string, error) {
	name, err := k.name()
	if err != nil {
		return "", err
	}
	runs, err := k.runsOfAll(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	wide := k.set.True("--wide", false)
	head := "NAMESPACE\tRUN\tKIND\tSTATE\tWORKERS\tSTARTED"
	if wide {
		head += "\tMODEL\tSERVER"
	}
	fmt.Fprintln(w, head+"\tPROBLEM")
	n := 0
	for _, r := range runs {
		if name != "" && r.Name != name || !k.isListed(r) {
			continue
		}
		n++
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d/%d\t%s", r.Namespace, r.Name, r.Kind, r.State, r.RunningWorkers(), r.Workers, r.Created.Local().Format("2006-01-02 15:04"))
		if wide {
			fmt.Fprintf(w, "\t%s\t%s", r.Model, strings.Join(r.Endpoints, ", "))
		}
		fmt.Fprintf(w, "\t%s\n", r.Problem)
	}
	if n == 0 {
		return "no runs\n", nil
	}
	err = w.Flush()
	return out.String(), err
}

// runsOfAll returns the runs of all namespaces, or of one if the user named it or may not see the others.
func (k *kubeCall) runsOfAll(ctx context.Context) ([]*kube.Run, error) {
	if k.set.True("--all-namespaces", !k.set.Has("--namespace")) {
		runs, err := kube.Runs(ctx, k.cluster.In(""))
		if !kube.Is(err, kube.Forbidden) {
			return runs, err
		}
	}
	return kube.Runs(ctx, k.cluster)
}

// isListed reports whether the filters of list accept a run.
func (k *kubeCall) isListed(r *kube.Run) bool {
	filters := map[string][]kube.State{"--running": {kube.Pending, kube.Queued, kube.Running}, "--completed": {kube.Finished, kube.Complete}, "--failed": {kube.Failed}}
	filtered := false
	for flag, states := range filters {
		if k.set.True(flag, false) {
			filtered = true
			if slices.Contains(states, r.State) {
				return true
			}
		}
	}
	return !filtered
}
