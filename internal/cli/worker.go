package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/podserver"
	"aiperf/internal/telemetry/promserver"
)

const workerLong = "Makes this computer one of the machines of a run. It joins the controller, which is an aiperf with --machines, and sends its share of every run " +
	"until the controller lets it go. It writes no files: the controller gets the results.\n\n" +
	"The controller prints the whole line to type here. Without flags, the address is taken from AIPERF_JOIN and the token from AIPERF_TOKEN. " +
	"The token is never a flag, because other users of a computer can read the flags of a program.\n\n" +
	"Exit status: 0 the controller let it go, 2 wrong token or another version of aiperf, 3 the run has all of its machines, 4 the controller is gone."

// Environment variables of a worker.
const (
	joinVariable  = "AIPERF_JOIN"
	tokenVariable = "AIPERF_TOKEN"
	nameVariable  = "AIPERF_NAME"
)

// WorkOptions are the settings of a worker.
type WorkOptions struct {
	Join, Token, Name string
	Secrets           *redact.Secrets
	Errorf            func(format string, a ...any)
	Spare             bool   // wait for the place of a lost machine
	Joined            func() // called when the controller has accepted this machine
}

func workerTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--join"}, Kind: setting.Text, Default: "AIPERF_JOIN", Help: "address of the controller, as it prints it: tls://HOST:PORT/CERTIFICATE, or tcp://HOST:PORT on its own computer"},
		{Flags: []string{"--token-file"}, Kind: setting.Path, Default: "the token in AIPERF_TOKEN", Help: "file with the token of the run; - reads it from standard input"},
		{Flags: []string{"--name"}, Kind: setting.Text, Default: "AIPERF_NAME, else host name and process id", Help: "name of this machine in the report"},
		{Flags: []string{"--spare"}, Kind: setting.Bool, Help: "wait if the run has all of its machines, and take the place of one that is lost from the next run of a series on"},
		{Flags: []string{"--health-host"}, Kind: setting.Text, Default: "127.0.0.1, in pods their address", Help: "address of /healthz and /readyz; ready = the controller has accepted this machine"},
		{Flags: []string{"--health-port"}, Kind: setting.Int, Bounds: ">= 1, <= 65535", Help: "port of /healthz and /readyz; off unless given"},
	})
}

// workerCommand builds the command that joins a run.
func (p *Program) workerCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "worker", short: "one of the machines of a run (profile --machines)", long: workerLong, table: workerTable, bare: cobra.ShellCompDirectiveNoFileComp,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if status, err := p.work(cmd.Context(), set); err != nil || status != 0 {
				return errors.Join(err, exitStatusOf(status))
			}
			return nil
		},
	})
}

// WorkerWords returns the arguments with which this program joins a controller; name may be "".
func WorkerWords(join, name, tokenFile string) []string {
	words := []string{"worker", "--join", join}
	if name != "" {
		words = append(words, "--name", name)
	}
	return append(words, "--token-file", tokenFile)
}

// exitStatusOf returns an exit status as an error; nil for 0.
func exitStatusOf(status int) error {
	if status == 0 {
		return nil
	}
	return exitStatus(status)
}

// work joins the run that the flags and the environment name.
func (p *Program) work(ctx context.Context, set *setting.CommandLine) (int, error) {
	if p.Work == nil {
		return 0, errors.New("worker: this program was built without several machines (build tag nocluster)")
	}
	o := WorkOptions{
		Join: set.Text("--join", lookup(p.Environ, joinVariable)), Token: lookup(p.Environ, tokenVariable), Name: set.Text("--name", lookup(p.Environ, nameVariable)), Spare: set.True("--spare", false), Secrets: p.Secrets, Errorf: p.errorf,
	}
	if path := set.Text("--token-file", ""); path != "" {
		token, err := p.readToken(path)
		if err != nil {
			return 0, fmt.Errorf("--token-file: %w", err)
		}
		o.Token = token
	}
	switch {
	case o.Join == "":
		return 0, errors.New("worker: the address of the controller is missing; give --join, as the controller prints it")
	case o.Token == "":
		return 0, fmt.Errorf("worker: the token of the run is missing; give --token-file, or set %s", tokenVariable)
	}
	p.Secrets.Add(o.Token)
	if address := healthAddress(set, p.Environ); address != "" {
		var joined atomic.Bool
		o.Joined = func() { joined.Store(true) }
		server, err := promserver.Listen(ctx, address, healthLimit, podserver.Health(joined.Load))
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", set.Spelled("--health-port"), address, err)
		}
		defer server.Close(ctx) //nolint:errcheck // probes that are being answered do not matter at the end
	}
	done := func(status int) int { return status }
	if p.Watch != nil {
		ctx, done = p.Watch(ctx, &signalTexts{out: p.Err, first: "this machine leaves the run; once the load has begun, the controller reports it as lost\n        a second signal exits now", second: "exiting now"})
	}
	return done(p.Work(ctx, o)), nil
}

// healthLimit is the time limit of an answer to a probe.
const healthLimit = 5 * time.Second

// healthAddress returns the address of the probes; "" = they are off.
func healthAddress(set *setting.CommandLine, environ []string) string {
	ports := set.Ints("--health-port")
	if len(ports) == 0 {
		return ""
	}
	return net.JoinHostPort(set.Text("--health-host", cmp.Or(lookup(environ, kube.PodIPVariable), "127.0.0.1")), strconv.FormatInt(ports[0], 10))
}

// longestToken is the largest size of a file with a token, bytes.
const longestToken = 4096

// readToken reads a token from a file or from standard input.
func (p *Program) readToken(path string) (string, error) {
	in := p.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", boundedfile.Named(path, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, longestToken))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("%s is empty; copy the file that the controller names", path)
	}
	return token, nil
}
