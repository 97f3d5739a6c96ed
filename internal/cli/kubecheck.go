package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/run/kube"
	"aiperf/internal/text/tokenizer"
)

func (p *Program) kubeShow() *cobra.Command {
	file := setting.Row{Flags: []string{"--path", "-f"}, Kind: setting.Path, Help: "configuration file to show as the objects of a run instead"}
	return p.command(tableCommand{
		use: "show [RUN]", short: "objects of a run, with their settings resolved", words: true, bare: cobra.ShellCompDirectiveDefault,
		long:  "Prints the objects of a run on a cluster as YAML, without its Secret; or, with --path, those that a configuration file would lead to.",
		table: func() *setting.Table { return setting.NewTable([]setting.Row{runRow(), file}, clusterRows()) },
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if path := set.Text("--path", ""); path != "" {
				if _, err := os.Stat(path); err != nil {
					return fmt.Errorf("--path: %w", boundedfile.Named(path, err))
				}
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
		{Flags: []string{"--tokenizer"}, Kind: setting.Text, Help: "tokenizer that a pod shall find; needs --image"},
		{Flags: []string{"--input-file"}, Kind: setting.Path, List: true, Help: "data file that a run shall read: of this computer, or below a mounted volume"},
		{Flags: []string{"--workers", "-w"}, Kind: setting.Int, Bounds: ">= 1, <= 1000", Default: "1", Help: "number of worker pods"},
		{Flags: []string{"--node-selector"}, Kind: setting.Text, List: true, Help: "label of the nodes: NAME=VALUE"},
		{Flags: []string{"--tolerations"}, Kind: setting.Text, List: true, Help: "taint of nodes to accept: KEY, KEY=VALUE or KEY=VALUE:EFFECT"},
		{Flags: []string{"--output", "-o"}, Kind: setting.Enum, Choices: []string{"text", "json"}, Default: "text", Help: "format"},
	}
	return p.kubeCommandOf(kubeCommand{
		use: "preflight", short: "check of a cluster before a run", rows: append(rows, preflightPodRows()...),
		long: "Checks your rights in the namespace, quotas, nodes, Secrets and data files. With --image it runs one pod, which proves that the image can be pulled and compares clocks; " +
			"with --endpoint-url that pod contacts the server, through the network policies of the namespace. It also opens the tokenizer and the data files on volumes. Exit status 3: there is a problem.",
		run: func(ctx context.Context, k *kubeCall) (int, error) {
			o, err := k.preflightOptions()
			if err != nil {
				return 1, err
			}
			data := k.checkData(o.Spec)
			return k.printChecks(append(kube.Preflight(ctx, k.cluster, o), data...))
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
	if s.Mounts, err = mounts(k.set); err != nil {
		return o, err
	}
	if s.SecretEnv, err = secretVariables(k.set); err != nil {
		return o, err
	}
	o = kube.PreflightOptions{Spec: s, Secrets: k.set.Texts("--secret"), Probe: []string{"kube", "probe"}, Server: k.set.Text("--endpoint-url", "")}
	for _, one := range [][2]string{{"--endpoint-url", "--url"}, {"--tokenizer", "--tokenizer"}} {
		if text := k.set.Text(one[0], ""); text != "" {
			if s.Image == "" {
				return o, fmt.Errorf("%s: a pod tests it, so name its --image, or set %s", one[0], imageVariable)
			}
			o.Probe = append(o.Probe, one[1], text)
		}
	}
	for _, file := range k.set.Texts("--input-file") {
		if isMounted(s.Mounts, file) {
			o.Probe = append(o.Probe, "--files", file)
		}
	}
	return o, nil
}

// preflightPodRows are the flags of the pods of a run that preflight has too.
func preflightPodRows() (rows []setting.Row) {
	for _, row := range podRows() {
		if slices.Contains([]string{"--volume-claims", "--host-paths", "--secret-mounts", "--env-from-secrets"}, row.Flags[0]) {
			rows = append(rows, row)
		}
	}
	return rows
}

// checkData checks the data files of this computer. Those on volumes are only there for pods.
func (k *kubeCall) checkData(s *kube.Spec) (checks []kube.Check) {
	for _, file := range k.set.Texts("--input-file") {
		check := kube.Check{Name: "data " + file, State: kube.Passed}
		info, err := os.Stat(file)
		var size int64
		if err == nil {
			size, err = readableSize(file)
		}
		switch {
		case isMounted(s.Mounts, file) && s.Image != "":
			continue
		case isMounted(s.Mounts, file):
			check.State, check.Text = kube.Unknown, "it is on a volume, where a pod reads it; name its --image"
		case err != nil:
			check.State, check.Text = kube.Refused, err.Error()
		case info.IsDir():
			check.State, check.Text = kube.Refused, "it is a folder; put it on a volume and mount it with --volume-claims"
		case size > kube.MaxData-configRoom:
			check.Text = dataSize(size) + "; it is sent to the controller before the run starts, and needs room in the /tmp of all pods"
		default:
			check.Text = dataSize(size) + "; it fits into the ConfigMap of the run"
		}
		checks = append(checks, check)
	}
	return checks
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
		use: "probe", short: "tests in a pod", long: "Tests from a pod what a run needs, and prints the result as JSON. kube preflight runs it.", bare: cobra.ShellCompDirectiveNoFileComp,
		table: func() *setting.Table {
			return setting.NewTable([]setting.Row{
				{Flags: []string{"--url"}, Kind: setting.Text, Secret: redact.Address, Help: "address of the server"},
				{Flags: []string{"--tokenizer"}, Kind: setting.Text, Help: "tokenizer to open"},
				{Flags: []string{"--files"}, Kind: setting.Path, List: true, Help: "files to read"},
			})
		},
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			return json.NewEncoder(p.Out).Encode(probe(cmd.Context(), set))
		},
	})
	cmd.Hidden = true
	return cmd
}

// probe tests from a pod what the flags name.
func probe(ctx context.Context, set *setting.CommandLine) kube.ProbeResult {
	checks, began := []kube.Check{}, time.Now().UnixNano()
	if url := set.Text("--url", ""); url != "" {
		checks = append(checks, probeServer(ctx, url))
	}
	if name := set.Text("--tokenizer", ""); name != "" {
		checks = append(checks, probeTokenizer(ctx, name))
	}
	for _, file := range set.Texts("--files") {
		size, err := readableSize(file)
		check := kube.Check{Name: "data " + file, State: kube.Passed, Text: "a pod reads its " + dataSize(size)}
		if err != nil {
			check.State, check.Text = kube.Refused, fmt.Sprintf("a pod cannot read it: %v", err)
		}
		checks = append(checks, check)
	}
	return kube.ProbeResult{Checks: checks, Began: began, Ended: time.Now().UnixNano()}
}

// dataSize words a size in bytes.
func dataSize(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// readableSize returns the size of a file that this process can read, in bytes.
func readableSize(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.IsDir() {
		_, err = f.Read(make([]byte, 1))
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
	}
	return info.Size(), err
}

// probeTokenizer opens a tokenizer where a run would look for it.
func probeTokenizer(ctx context.Context, name string) kube.Check {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	check := kube.Check{Name: "tokenizer", State: kube.Passed, Text: "a pod finds " + name}
	if _, err := tokenizer.Open(ctx, name, tokenizer.Options{Revision: "main"}); err != nil {
		check.State = kube.Refused
		check.Text = fmt.Sprintf("a pod does not find it: %v", tokenizer.Worded(err, (&config.Benchmark{}).As))
	}
	return check
}

// probeLimit is the longest wait for the answer of a server.
const probeLimit = 10 * time.Second

// probeServer sends one request. Any answer shows that the server can be reached.
func probeServer(ctx context.Context, url string) kube.Check {
	check := kube.Check{Name: "server", State: kube.Refused}
	address, err := resolve.ParseURL(url)
	if err != nil {
		check.Text = err.Error()
		return check
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		check.Text = err.Error()
		return check
	}
	begin := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		check.Text = fmt.Sprintf("no pod reaches %s: %v; check the name of its Service and the network policies", redact.URL(url), err)
		return check
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // the status is enough
	check.State, check.Text = kube.Passed, fmt.Sprintf("%s answers from a pod in %.1f ms (status %d)", redact.URL(url), float64(time.Since(begin).Microseconds())/1000, resp.StatusCode)
	return check
}
