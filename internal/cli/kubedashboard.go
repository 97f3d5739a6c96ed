package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/podserver"
)

const kubeDashboardLong = "Shows the live page of a run on a cluster: prints an address on this computer, whose connections are forwarded to the controller's pod, until Ctrl-C. " +
	"The run continues. The page ends with the run; its files have the report: kube results."

// kubeDashboard builds the command that forwards the live page of a run to this computer.
func (p *Program) kubeDashboard() *cobra.Command {
	rows := []setting.Row{
		runRow(),
		{Flags: []string{"--port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", Default: "0", Help: "local port of the page; 0 = a free one"},
		{Flags: []string{"--no-browser"}, FalseNames: []string{"--no-no-browser"}, Kind: setting.Bool, NoEffect: "the address is printed, and no browser is opened", Help: "do not open a browser"},
		{Flags: []string{"--operator-namespace"}, Kind: setting.Text, NotBuilt: true, Help: "namespace of an operator; there is none"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "dashboard [RUN]", short: "live page of a run on a cluster", words: true, rows: rows, long: kubeDashboardLong,
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			run, err := k.found(ctx)
			if err != nil {
				return 1, err
			}
			return k.showPage(ctx, run)
		},
	})
}

// showPage forwards the live page of a run until the user leaves.
func (k *kubeCall) showPage(ctx context.Context, run *kube.Run) (int, error) {
	remote, err := kube.NewRemote(ctx, k.cluster, run)
	if err != nil {
		return 1, err
	}
	defer remote.Close()
	switch state, err := remote.State(ctx); {
	case err != nil:
		return 1, err
	case state.Phase == podserver.Finished:
		return 1, fmt.Errorf("run %s has ended and has no live page any more; fetch its report with aiperf kube results %s", run.Name, run.Name)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.FormatInt(oneInt(k.set, "--port", 0), 10))
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return 1, fmt.Errorf("%s %s: %w", k.set.Spelled("--port"), address, err)
	}
	fmt.Fprintf(k.Out, "live page of run %s: %s\n", run.Name, remote.PageLink(l.Addr()))
	err = remote.ServePage(ctx, l, func(err error) { k.warnf("%v", err) })
	if ctx.Err() != nil {
		err = nil
	}
	return 0, err
}
