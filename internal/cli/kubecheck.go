package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/run/kube"
)

func (p *Program) kubeShow() *cobra.Command {
	file := setting.Row{Flags: []string{"--path", "-f"}, Kind: setting.Path, Help: "configuration file to show as the objects of a run instead"}
	return p.command(tableCommand{
		use: "show [RUN]", short: "objects of a run, with their settings resolved", words: true, bare: cobra.ShellCompDirectiveDefault,
		long:  "Prints the objects of a run on a cluster as YAML, without its Secret; or, with --path, those that a configuration file would lead to.",
		table: func() *setting.Table { return setting.NewTable([]setting.Row{runRow(), file}, clusterRows()) },
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if path := set.Text("--path", ""); path != "" {
				own, problems := setting.Scan(kubeGenerateTable(), []string{"--image", "aiperf:" + Version(), "--name", "my-benchmark"})
				if len(problems) > 0 {
					return errors.New(problems[0])
				}
				c, err := p.clusterRunOf(cmd.Context(), own, []string{"--config", path})
				if err != nil {
					return err
				}
				if c == nil {
					return exitStatus(1)
				}
				return p.printObjects(c.spec.Objects())
			}
			cluster, err := p.openCluster(set)
			if err != nil {
				return err
			}
			k := &kubeCall{p, set, cluster}
			run, err := k.found(cmd.Context())
			if err != nil {
				return err
			}
			objects, err := kube.ObjectsOf(cmd.Context(), cluster, run.Name)
			if err != nil {
				return err
			}
			return p.printObjects(objects)
		},
	})
}

func (p *Program) kubeDebug() *cobra.Command {
	rows := []setting.Row{
		{Flags: []string{"--job-id", "-j"}, Kind: setting.Text, Default: "all runs", Help: "name of the run; also as a word"},
		{Flags: []string{"--verbose", "-v"}, Kind: setting.Bool, Help: "all events, and the output of all pods"},
		{Flags: []string{"--all-namespaces", "-A"}, Kind: setting.Bool, Help: "runs of all namespaces"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "debug [RUN]", short: "what is wrong with a run", words: true, rows: append(rows, seriesRows(false)...),
		long: "Prints the state of a run, of its pods and what is wrong with them, warnings of the cluster, and the end of the controller's output.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			name, err := k.name()
			if err != nil {
				return 1, err
			}
			cluster := k.cluster
			if k.set.True("--all-namespaces", false) {
				cluster = cluster.In("")
			}
			runs, err := kube.Runs(ctx, cluster)
			if err != nil {
				return 1, err
			}
			n := 0
			for _, run := range runs {
				if name != "" && run.Name != name {
					continue
				}
				n++
				if err := kube.Diagnosis(ctx, k.cluster, run, k.set.True("--verbose", false), k.Out); err != nil {
					return 1, err
				}
			}
			if n == 0 {
				_, err = kube.Find(ctx, k.cluster, name, "")
			}
			return 0, err
		},
	})
}

func (p *Program) kubePreflight() *cobra.Command {
	rows := []setting.Row{
		{Flags: []string{"--image", "-i"}, Kind: setting.Text, Default: imageVariable + "; without it the image is not tested", Help: "image that a pod of the cluster shall run"},
		{Flags: []string{"--image-pull-secret", "--image-pull-secrets"}, Kind: setting.Text, List: true, Help: "Secret with access to the image"},
		{Flags: []string{"--secret", "--secrets"}, Kind: setting.Text, List: true, Help: "Secret that must exist"},
		{Flags: []string{"--endpoint-url", "-e"}, Kind: setting.Text, Secret: redact.Address, Help: "server that a pod shall reach; needs --image"},
		{Flags: []string{"--workers", "-w"}, Kind: setting.Int, Bounds: ">= 1, <= 1000", Default: "1", Help: "number of worker pods"},
		{Flags: []string{"--node-selector"}, Kind: setting.Text, List: true, Help: "label of the nodes: NAME=VALUE"},
		{Flags: []string{"--tolerations"}, Kind: setting.Text, List: true, Help: "taint of nodes to accept: KEY, KEY=VALUE or KEY=VALUE:EFFECT"},
		{Flags: []string{"--output", "-o"}, Kind: setting.Enum, Choices: []string{"text", "json"}, Default: "text", Help: "format"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "preflight", short: "check of a cluster before a run", rows: rows,
		long: "Checks your rights in the namespace, quotas, nodes and Secrets. With --image it runs one pod, which proves that the image can be pulled; with --endpoint-url that pod contacts the " +
			"server, through the network policies of the namespace. Exit status 3: there is a problem.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			o, err := k.preflightOptions()
			if err != nil {
				return 1, err
			}
			return k.printChecks(kube.Preflight(ctx, k.cluster, o))
		},
	})
}

// preflightOptions reads the flags of preflight.
func (k *kubeCall) preflightOptions() (o kube.PreflightOptions, err error) {
	s := &kube.Spec{Name: "aiperf-preflight", Image: k.set.Text("--image", lookup(k.Environ, imageVariable)), Workers: int(oneInt(k.set, "--workers", 1)), PullSecrets: k.set.Texts("--image-pull-secret")}
	s.WorkerRequests, s.ControllerRequests = defaultRequests()
	if s.NodeSelector, err = pairs(k.set, "--node-selector"); err != nil {
		return o, err
	}
	if s.Tolerations, err = tolerationsOf(k.set); err != nil {
		return o, err
	}
	o = kube.PreflightOptions{Spec: s, Secrets: k.set.Texts("--secret"), Probe: []string{"kube", "probe"}}
	if url := k.set.Text("--endpoint-url", ""); url != "" {
		if s.Image == "" {
			return o, fmt.Errorf("--endpoint-url: a pod contacts the server, so name its --image, or set %s", imageVariable)
		}
		o.Probe = append(o.Probe, "--url", url)
	}
	return o, nil
}

// printChecks prints checks and returns the exit status.
func (k *kubeCall) printChecks(checks []kube.Check) (status int, err error) {
	for _, c := range checks {
		if c.State == kube.Refused {
			status = gateFailed
		}
	}
	if k.set.Text("--output", "text") == "json" {
		enc := json.NewEncoder(k.data())
		enc.SetIndent("", "  ")
		return status, enc.Encode(checks)
	}
	w := tabwriter.NewWriter(k.Out, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.State, terminal.Line(c.Name), terminal.Line(c.Text))
	}
	return status, w.Flush()
}

// kubeProbe builds the command that preflight runs in a pod.
func (p *Program) kubeProbe() *cobra.Command {
	cmd := p.command(tableCommand{
		use: "probe", short: "test of a server from a pod", long: "Sends one request to a server and prints as JSON whether it answered. kube preflight runs it in a pod.", bare: cobra.ShellCompDirectiveNoFileComp,
		table: func() *setting.Table {
			return setting.NewTable([]setting.Row{{Flags: []string{"--url"}, Kind: setting.Text, Secret: redact.Address, Help: "address of the server"}})
		},
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			result := kube.ProbeResult{Reached: true}
			if url := set.Text("--url", ""); url != "" {
				result = probeServer(cmd.Context(), url)
			}
			return json.NewEncoder(p.Out).Encode(result)
		},
	})
	cmd.Hidden = true
	return cmd
}

// probeLimit is the longest wait for the answer of a server.
const probeLimit = 10 * time.Second

// probeServer sends one request. Any answer shows that the server can be reached.
func probeServer(ctx context.Context, url string) kube.ProbeResult {
	address, err := resolve.ParseURL(url)
	if err != nil {
		return kube.ProbeResult{Text: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return kube.ProbeResult{Text: err.Error()}
	}
	begin := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return kube.ProbeResult{Text: fmt.Sprintf("no pod reaches %s: %v; check the name of its Service and the network policies", redact.URL(url), err)}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // the status is enough
	return kube.ProbeResult{Reached: true, Text: fmt.Sprintf("%s answers from a pod in %.1f ms (status %d)", redact.URL(url), float64(time.Since(begin).Microseconds())/1000, resp.StatusCode)}
}
