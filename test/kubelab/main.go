// Command kubelab runs a real Kubernetes control plane on one machine for tests: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, built from their published Go modules, and a kubelet that runs containers as local processes instead of images.
//
//	kubelab up -dir DIR -port 28100 -nodes 3 -programs aiperf=/path/to/aiperf
//
// It needs Linux, root, iproute2 and util-linux. It prints "ready" and the path of the kubeconfig. SIGINT and SIGTERM end everything that it
// started; SIGUSR1 stops the API server and SIGUSR2 starts it again.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"kubelab/kubelet"
	"kubelab/sandbox"
)

// parts are the processes of a lab; all of them are this program, so that one binary is enough.
var parts = map[string]func(args []string) error{
	"up":          up,
	"apiserver":   component(apiserver.NewAPIServerCommand),
	"controllers": component(controllers.NewControllerManagerCommand),
	"scheduler":   component(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":     runKubelet,
	"container":   func([]string) error { return sandbox.Become(os.Stdin) },
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: kubelab up -dir DIR [-port PORT] [-nodes N] [-programs NAME=PATH,…]")
		os.Exit(2)
	}
	if err := parts[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubelab:", err)
		os.Exit(1)
	}
}

// component runs a command of Kubernetes and exits with its status.
func component(command func() *cobra.Command) func([]string) error {
	return func(args []string) error {
		c := command()
		c.SetArgs(args)
		os.Exit(cli.Run(c))
		return nil
	}
}

func runKubelet(args []string) error {
	config, err := kubelet.ParseConfig(args)
	if err != nil {
		return err
	}
	return kubelet.Run(config)
}
