package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/systems"
	"aiperf/internal/telemetry/promserver"
)

// readableRuns returns the runs below the paths whose summaries can be read. It warns about the others; an error means that none can be read.
func (p *Program) readableRuns(paths []string) ([]*runfiles.Run, error) {
	found, err := runfiles.Find(paths, p.warnf)
	if err != nil {
		return nil, err
	}
	var runs []*runfiles.Run
	var last error
	for _, r := range found {
		if _, err := r.Summary(); err != nil {
			last = err
			p.warnf("%v: the dashboard leaves this run out", err)
			continue
		}
		runs = append(runs, r)
	}
	if runs == nil {
		return nil, last
	}
	return runs, nil
}

// dashboard serves reports and plots of the runs until it is interrupted. The address contains a token, so other users of this machine cannot see
// them.
func (p *Program) dashboard(ctx context.Context, o *plotCall, host string, port int64) error {
	runs, err := p.readableRuns(o.paths)
	if err != nil {
		return err
	}
	d := &htmlpage.Dashboard{Runs: runs, Config: o.config, Theme: o.theme, Version: Version()}
	if len(runs) > 1 {
		d.Systems = func() (*systems.Comparison, error) { return p.compareSystems(systems.Options{Paths: o.paths}) }
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.FormatInt(port, 10)))
	if err != nil {
		return fmt.Errorf("--host, --port: %w", err)
	}
	guard := &promserver.AccessGuard{Token: o.token, Host: host}
	address, choice := "http://"+listener.Addr().String()+"/", " (with the token that you gave)"
	if guard.Token == "" {
		guard.Token, choice = rand.Text(), ""
		address = guard.Address(address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		p.warnf("--host %s: anyone who can reach this machine and knows the address can see the runs; nothing is encrypted", host)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Handler: guard.Wrap(d.Handler()), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	mode := "single-run"
	if len(runs) > 1 {
		mode = fmt.Sprintf("multi-run (%d runs)", len(runs))
	}
	fmt.Fprintf(p.Out, "Dashboard ready: %s%s\nMode: %s, Theme: %s\nPress Ctrl+C to stop\n", address, choice, mode, cmp.Or(o.theme, "that of the browser"))
	if p.Terminal {
		_ = exec.CommandContext(ctx, "xdg-open", address).Start() // without such a program, the user opens the printed address
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		err = errors.Join(err, server.Close())
		p.warnf("%v", err)
	}
	return nil
}
