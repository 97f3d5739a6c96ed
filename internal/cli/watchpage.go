package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/htmlreport"
	"aiperf/internal/report/livepage"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/ui/liveview"
)

// watchedPage is the live page of a run in another process.
type watchedPage struct {
	run    *watchedRun
	server *livepage.Server
	dir    string // of the run that the page shows
}

// openPage starts the live page and prints its address.
func (w *watchedRun) openPage(ctx context.Context, set *setting.CommandLine) (*watchedPage, error) {
	address := set.Text("--web", livepage.Auto)
	if address != livepage.Auto {
		completed, ok := resolve.ListenAddress(address)
		if !ok {
			return nil, fmt.Errorf("%s %s: want HOST:PORT, or a port", set.Spelled("--web"), address)
		}
		address = completed
	}
	server, err := livepage.Listen(ctx, livepage.Options{Address: address, Token: rand.Text(), Version: Version()})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", set.Spelled("--web"), address, err)
	}
	p := &watchedPage{run: w, server: server}
	if w.dir != w.root {
		server.ShowSeries(htmlreport.LiveSeries{Dir: w.root})
		finished, err := runfiles.Find([]string{w.root}, func(string, ...any) {})
		if err != nil {
			finished = nil // no run has finished
		}
		for _, r := range finished {
			if filepath.Clean(r.Dir) != filepath.Clean(w.dir) {
				server.AddRun(r.Dir)
			}
		}
	}
	p.follow()
	fmt.Fprintln(w.Out, terminal.Text("live page of this run: "+server.Address(true))) // with the token, which other lines hide
	w.flush()
	if server.Reachable() {
		w.warnf("%s %s: anyone who can reach this machine and knows the address can see the run; nothing is encrypted", set.Spelled("--web"), address)
	}
	return p, nil
}

// follow shows the present run of a series.
func (p *watchedPage) follow() {
	if p == nil {
		return
	}
	p.run.mu.Lock()
	dir := p.run.dir
	p.run.mu.Unlock()
	if dir == p.dir {
		return
	}
	if p.dir != "" {
		p.end()
	}
	p.dir = dir
	label := ""
	if rel, err := filepath.Rel(p.run.root, dir); err == nil && rel != "." {
		label = strings.ReplaceAll(filepath.ToSlash(rel), "_", " ")
	}
	const widest = 200
	p.server.Begin(livepage.Source{Fill: func(s *liveview.State) { p.run.fill(liveview.View{Width: widest, All: true}, s) }, Label: label})
}

// filesPatience is how long the page waits for the summary of a run that has just ended.
const filesPatience = 2 * time.Second

// end shows the result of the run that has ended. The live file goes before the summary is complete, so the page waits for it for a moment.
func (p *watchedPage) end() {
	for until := time.Now().Add(filesPatience); time.Now().Before(until); time.Sleep(watchPause) {
		if runfiles.HasRun(p.dir) {
			p.server.End(p.dir)
			return
		}
	}
	p.server.End("")
}

// close ends the page. It shows the result of a run that is over; left means that the user has left a run that continues.
func (p *watchedPage) close(ctx context.Context, left bool) {
	end := p.server.Leave
	if !left {
		p.end()
		end = p.server.Close
	}
	if err := end(ctx); err != nil {
		p.run.warnf("the live page of %s: %v", artifact.NewLayout(p.dir, "").Dir, err)
	}
}
