package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
)

const serviceLong = "Starts one of the two processes of a run on several machines, by the names that the Python tool gives its services: worker is aiperf worker, " +
	"system_controller is aiperf profile --config FILE. The other services of the Python tool are parts of these two.\n\n" +
	"A worker takes the address of its controller from AIPERF_JOIN and the token from AIPERF_TOKEN."

// Services of the Python tool that are processes here.
const (
	serviceWorker     = "worker"
	serviceController = "system_controller"
)

// otherServices are those that are parts of the two.
var otherServices = []string{
	"api", "dataset_manager", "gpu_telemetry_manager", "network_latency_manager", "record_processor", "records_manager", "server_metrics_manager", "timing_manager",
	"worker_manager", "worker_group_manager",
}

func serviceTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--type"}, Kind: setting.Enum, Choices: append([]string{serviceWorker, serviceController}, otherServices...), Help: "service to start; also as the first word"},
		{Flags: []string{"--benchmark-run"}, Kind: setting.Path, Help: "configuration file of the run, for system_controller; also as the second word"},
		{Flags: []string{"--service-id"}, Kind: setting.Text, Default: "host name and process id", Help: "name of a worker in the report"},
		{Flags: []string{"--health-host"}, Kind: setting.Text, Default: "127.0.0.1, in pods their address", Help: "address of /healthz and /readyz"},
		{Flags: []string{"--health-port"}, Kind: setting.Int, Bounds: ">= 1, <= 65535", Help: "port of /healthz and /readyz; off unless given"},
		{Flags: []string{"--keep-results"}, Kind: setting.Float, Unit: "s", Bounds: ">= 0", Help: "serve state, output and files of system_controller, and wait so long for somebody to fetch them, in s"},
		{Flags: []string{"--artifact-dir"}, Kind: setting.Path, Default: keptFiles, Help: "folder for the files of a run with --keep-results"},
		{Flags: []string{"--data-files"}, Kind: setting.Text, List: true, Help: "with --keep-results: file that must be sent before the run starts: NAME=SHA256"},
		{Flags: []string{"--keys"}, Kind: setting.Path, Help: "folder with the keys of --keep-results: api-token, and those of --machines-keys"},
		{Flags: []string{"--api-port"}, Kind: setting.Int, Bounds: ">= 1, <= 65535", Help: "port of the HTTP API of system_controller, which has /healthz and /readyz too"},
	})
}

// serviceCommand builds the command that starts a process by the Python tool's name.
func (p *Program) serviceCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "service TYPE [FILE]", short: "worker or controller, by the names of the Python tool", long: serviceLong, table: serviceTable, bare: cobra.ShellCompDirectiveDefault, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			status, err := p.service(cmd.Context(), set)
			return errors.Join(err, exitStatusOf(status))
		},
	})
}

// service starts the service that the command line names.
func (p *Program) service(ctx context.Context, set *setting.CommandLine) (int, error) {
	words := set.Words
	next := func(flag string) string {
		if text := set.Text(flag, ""); text != "" || len(words) == 0 {
			return text
		}
		word := words[0]
		words = words[1:]
		return word
	}
	kind := strings.ReplaceAll(next("--type"), "-", "_")
	file := next("--benchmark-run")
	if len(words) > 0 {
		return 0, fmt.Errorf("service takes a type and a file, not also %q", words[0])
	}
	switch {
	case kind == serviceWorker:
		return p.serviceWorker(ctx, set)
	case kind == serviceController && file == "":
		return 0, errors.New("service system_controller: the configuration file of the run is missing; give it as the second word")
	case kind == serviceController && set.Has("--keep-results"):
		return p.keepRun(ctx, set, file)
	case kind == serviceController:
		return p.profile(ctx, append([]string{"--config", file}, controllerFlags(set)...)), nil
	case slices.Contains(otherServices, kind):
		return 0, fmt.Errorf("service %s: it is a part of the controller here; start service %s FILE, and service %s on other machines", kind, serviceController, serviceWorker)
	case kind == "":
		return 0, fmt.Errorf("service: the type is missing; it is %s or %s", serviceWorker, serviceController)
	}
	return 0, fmt.Errorf("service: there is no type %q; it is %s or %s", kind, serviceWorker, serviceController)
}

// controllerFlags returns the flags of profile for those of service.
func controllerFlags(set *setting.CommandLine) (words []string) {
	if host := set.Text("--health-host", ""); host != "" {
		words = append(words, "--api-host", host)
	}
	ports := set.Ints("--api-port")
	if len(ports) == 0 {
		ports = set.Ints("--health-port")
	}
	if len(ports) > 0 {
		words = append(words, "--api-port", strconv.FormatInt(ports[0], 10))
	}
	return words
}

// serviceWorker joins the run that the environment names.
func (p *Program) serviceWorker(ctx context.Context, set *setting.CommandLine) (int, error) {
	for _, flag := range []string{"--api-port", "--keep-results", "--keys", "--artifact-dir", "--data-files"} {
		if set.Has(flag) {
			return 0, fmt.Errorf("%s: a worker has no results; ask the controller", set.Spelled(flag))
		}
	}
	words := []string{}
	for _, pair := range [][2]string{{"--service-id", "--name"}, {"--health-host", "--health-host"}} {
		if text := set.Text(pair[0], ""); text != "" {
			words = append(words, pair[1], text)
		}
	}
	if ports := set.Ints("--health-port"); len(ports) > 0 {
		words = append(words, "--health-port", strconv.FormatInt(ports[0], 10))
	}
	own, problems := setting.Scan(workerTable(), words)
	if len(problems) > 0 {
		return 0, errors.New(problems[0])
	}
	return p.work(ctx, own)
}
