package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/setting"
	"aiperf/internal/run/kube"
)

// KubeTools connect this program with clusters; nil functions = it was built without them.
type KubeTools struct {
	// Open returns the cluster that a kubeconfig names; empty texts are the defaults of kubectl.
	Open func(kubeconfig, context, namespace string) (kube.Cluster, error)
	// Keys returns new keys of a controller as files, and the address at which machines with these keys reach it.
	Keys func(host string, port int) (files map[string][]byte, join string, err error)
}

const kubeLong = "Runs benchmarks on a Kubernetes cluster. A run is two Jobs in one namespace: the controller, and workers that send the requests. It needs no operator, " +
	"no custom resources and no rights beyond the namespace.\n\n" +
	"Without --namespace, runs are in the namespace of the kubeconfig's context. The run continues when this computer sleeps or leaves: attach and results find it again."

// kubeGroup builds the command with the subcommands for clusters.
func (p *Program) kubeGroup() *cobra.Command {
	root := &cobra.Command{
		Use: "kube", Short: "runs on a Kubernetes cluster", Long: kubeLong, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 || wantsHelp(words) {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
	results := p.kubeResults()
	results.AddCommand(p.kubeListRuns())
	root.AddCommand(p.kubeProfile(), p.kubeSweep(), p.kubeGenerate(), p.kubeInit(), p.kubeValidate(), p.kubePreflight(), p.kubeProbe(), p.kubeAttach(), results, p.kubeList(), p.kubeLogs(),
		p.kubeCancel(), p.kubeShutdown(), p.kubeDelete(), p.kubeCleanup(), p.kubeShow(), p.kubeDebug(),
		p.kubeDashboard())
	return root
}

// clusterRows are the flags that say which cluster a command means.
func clusterRows() []setting.Row {
	return []setting.Row{
		{Flags: []string{"--kubeconfig"}, Kind: setting.Path, Default: "KUBECONFIG, else ~/.kube/config", Help: "file with the access to clusters"},
		{Flags: []string{"--kube-context"}, Kind: setting.Text, Default: "the current one", Help: "context of that file"},
		{Flags: []string{"--namespace", "-n"}, Kind: setting.Text, Default: "that of the context", Help: "namespace of the run"},
	}
}

// runRow is the flag that names a run; it may also be a word.
func runRow() setting.Row {
	return setting.Row{Flags: []string{"--job-id"}, Kind: setting.Text, Default: "the only run of the namespace", Help: "name of the run; also as a word"}
}

// seriesRows are flags of the Python tool that name one run of a series. Here, a series is one run.
func seriesRows(short bool) []setting.Row {
	variation, trial := setting.Row{Flags: []string{"--variation"}, Kind: setting.Int, Help: "run of a series"}, setting.Row{Flags: []string{"--trial", "-t"}, Kind: setting.Int, Help: "repetition in a series"}
	if short {
		variation.Flags = append(variation.Flags, "-v")
	}
	variation.NotBuilt, trial.NotBuilt = true, true
	return []setting.Row{variation, trial}
}

// kubeCommand is a command about runs on a cluster.
type kubeCommand struct {
	use, short, long string
	rows             []setting.Row
	words            bool
	run              func(ctx context.Context, k *kubeCall) (int, error)
}

// kubeCall is the execution of such a command.
type kubeCall struct {
	*Program
	set     *setting.CommandLine
	cluster kube.Cluster
}

// kubeCommandOf builds a command with the flags of the cluster and its own.
func (p *Program) kubeCommandOf(c kubeCommand) *cobra.Command {
	table := func() *setting.Table { return setting.NewTable(c.rows, clusterRows()) }
	return p.command(tableCommand{
		use: c.use, short: c.short, long: c.long, table: table, bare: cobra.ShellCompDirectiveNoFileComp, words: c.words,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			for _, line := range notBuilt(set) {
				return errors.New(line + "; a series is one run here, results fetches the files of all its parts")
			}
			cluster, err := p.openCluster(set)
			if err != nil {
				return err
			}
			ctx, done := cmd.Context(), func(status int) int { return status }
			if p.Watch != nil {
				ctx, done = p.Watch(ctx, io.Discard)
			}
			status, err := c.run(ctx, &kubeCall{p, set, cluster})
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			if status = done(status); err != nil {
				return err
			}
			return exitStatusOf(status)
		},
	})
}

// openCluster returns the cluster that flags name.
func (p *Program) openCluster(set *setting.CommandLine) (kube.Cluster, error) {
	if p.Kube.Open == nil {
		return nil, errors.New("kube: this program was built without clusters (build tag nocluster)")
	}
	if file := set.Text("--kubeconfig", ""); file != "" {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", boundedfile.Named(file, err))
		}
	}
	return p.Kube.Open(set.Text("--kubeconfig", ""), set.Text("--kube-context", ""), set.Text("--namespace", ""))
}

// name returns the name of the run that the command line gives; "" = none.
func (k *kubeCall) name() (string, error) {
	words := k.set.Words
	if text := k.set.Text("--job-id", ""); text != "" {
		words = append([]string{text}, words...)
	}
	switch len(words) {
	case 0:
		return "", nil
	case 1:
		return words[0], nil
	}
	return "", fmt.Errorf("one run at a time, not %q and %q", words[0], words[1])
}

// found returns the run that the command line names.
func (k *kubeCall) found(ctx context.Context) (*kube.Run, error) {
	name, err := k.name()
	if err != nil {
		return nil, err
	}
	return kube.Find(ctx, k.cluster, name, k.set.Text("--kind", ""))
}

// follower returns what follows runs and tells the user about them.
func (k *kubeCall) follower() *kube.Follower { return followerOf(k.Program, k.cluster) }

func followerOf(p *Program, c kube.Cluster) *kube.Follower {
	return &kube.Follower{Cluster: c, Out: p.Out, Note: func(text string) { p.printErr("note: %s", text) }}
}
