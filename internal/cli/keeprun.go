package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/podserver"
	"aiperf/internal/telemetry/promserver"
)

// machinesPort is the port at which the machines of a run in pods reach their controller.
const machinesPort = 4222

// apiTokenFile is the name of the file with the token of a kept run's API.
const apiTokenFile = "api-token"

// keptFiles is the folder of the files of a kept run unless another one is given.
const keptFiles = "/results"

// uploadLimit is the longest wait of a run for the next part of its data files.
const uploadLimit = 15 * time.Minute

// downloadLimit is the time limit of one answer of a kept run.
const downloadLimit = 30 * time.Minute

// keepRun executes the run of a file in a separate process, and serves its state and its files until somebody has fetched them.
func (p *Program) keepRun(ctx context.Context, set *setting.CommandLine, file string) (int, error) {
	addresses := keeperAddresses(set, p.Environ)
	if addresses == nil {
		return 0, fmt.Errorf("%s: needs --health-port, the port at which the files are fetched", set.Spelled("--keep-results"))
	}
	keys := set.Text("--keys", "")
	if keys == "" {
		return 0, fmt.Errorf("%s: needs --keys, a folder with the token that whoever fetches the files must know", set.Spelled("--keep-results"))
	}
	token, err := p.readToken(filepath.Join(keys, apiTokenFile))
	if err != nil {
		return 0, fmt.Errorf("--keys %s: %w", keys, err)
	}
	p.Secrets.Add(token)
	sums, err := pairs(set, "--data-files")
	if err != nil {
		return 0, err
	}
	dir := set.Text("--artifact-dir", keptFiles)
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	keeper := podserver.New(podserver.Options{
		Command: append([]string{program}, keptWords(file, dir, keys, lookup(p.Environ, kube.PodIPVariable))...), Dir: dir, Out: p.Out,
		Environ: []string{"AIPERF_API_SERVER_TOKEN=" + token},
		Keep:    time.Duration(set.Floats("--keep-results")[0] * float64(time.Second)),
		Uploads: podserver.Uploads{Dir: kube.DataDir, SHA256: sums, Limit: uploadLimit},
	})
	for _, address := range addresses {
		guard := &promserver.AccessGuard{Token: token, Host: "0.0.0.0", Open: func(path string) bool { return path == "/healthz" || path == "/readyz" }}
		server, err := promserver.Listen(ctx, address, downloadLimit, guard.Wrap(keeper.Handler()))
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", set.Spelled("--health-port"), address, err)
		}
		defer closeSoon(ctx, server)
	}
	done := func(status int) int { return status }
	if p.Watch != nil {
		ctx, done = p.Watch(ctx, io.Discard)
	}
	status, err := keeper.Run(ctx)
	return done(status), err
}

// closeSoon closes a server; whoever still reads gets a second.
func closeSoon(ctx context.Context, server *promserver.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = server.Close(ctx) // nobody reads any more
}

// keptWords returns the arguments of a kept run.
func keptWords(file, dir, keys, pod string) []string {
	words := []string{"profile", "--config", file, "--artifact-dir", dir, "--machines-keys", keys}
	if pod != "" {
		words = append(words, "--machines-listen", net.JoinHostPort(pod, strconv.Itoa(machinesPort)), "--web="+net.JoinHostPort("127.0.0.1", strconv.Itoa(kube.PagePort)))
	}
	return words
}

// keeperAddresses returns the addresses of a keeper: that of its pod for probes, and the loopback interface of the pod, to which Kubernetes forwards ports.
func keeperAddresses(set *setting.CommandLine, environ []string) []string {
	first := healthAddress(set, environ)
	if first == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(first)
	address, parseErr := netip.ParseAddr(host)
	if errors.Join(err, parseErr) != nil || address.IsLoopback() || address.IsUnspecified() {
		return []string{first}
	}
	return []string{first, net.JoinHostPort("127.0.0.1", port)}
}
