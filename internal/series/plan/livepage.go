package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync/atomic"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/htmlreport"
	"aiperf/internal/report/livepage"
	"aiperf/internal/run/kube"
)

// openPaths lists the paths of the live page that need no token, as those of the API.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// openLivePage starts the live page if the settings ask for one, and prints its address. It shows one run after the other until hide.
func (i *invocation) openLivePage(ctx context.Context) (hide func(), err error) {
	address := i.run.Runtime.Web
	if address == "" {
		return func() {}, nil
	}
	given := cmp.Or(i.run.Runtime.APIToken, i.run.Environment.API.Token)
	i.web, err = livepage.Listen(ctx, livepage.Options{
		Address: address, Token: cmp.Or(given, rand.Text()), Chosen: given != "", Version: i.Version, Open: func(path string) bool { return openPaths[path] },
	})
	if err != nil {
		return func() {}, fmt.Errorf("%s %s: %w", i.run.As("runtime.web"), address, err)
	}
	i.sayLivePage(given != "")
	return func() {
		if err := i.web.Close(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintf(i.Err, "warning: the live page: %s\n", terminal.Text(err.Error()))
		}
	}, nil
}

// showSeries makes the live view and the live page those of a series. planned is its number of runs, 0 = unknown; with atMost it may end earlier. cell
// returns the cell of a run by its directory; nil = by what the runs vary.
func (i *invocation) showSeries(planned int, atMost bool, cell func(dir string) string) {
	i.place.planned, i.place.atMost = planned, atMost
	i.place.series = true
	if i.web != nil {
		i.web.ShowSeries(htmlreport.LiveSeries{Dir: i.run.Artifacts.Dir, Planned: planned, AtMost: atMost, Cell: cell})
	}
}

// showReused adds a run from before to the live page.
func (i *invocation) showReused(dir string) {
	i.place.begun.Add(1)
	if i.web != nil {
		i.web.AddRun(dir)
	}
}

// sayLivePage prints the address of the live page, except in a pod: kube dashboard forwards it to where it is of use. chosen says that the user chose
// the token, which is not printed.
func (i *invocation) sayLivePage(chosen bool) {
	if os.Getenv(kube.PodIPVariable) != "" && !i.web.Reachable() {
		return
	}
	note := ""
	if chosen {
		note = " (with the token that you gave: ?token=TOKEN)"
	}
	fmt.Fprintf(i.Err, "aiperf: live page of this run: %s%s\n", terminal.Text(i.web.Link()), note)
	if i.web.Reachable() {
		fmt.Fprintf(i.Err, "warning: %s %s: anyone who can reach this machine and knows the address can see the run; nothing is encrypted\n", i.run.As("runtime.web"), i.run.Runtime.Web)
	}
}

// seriesPlace counts the runs of a series, which may begin at the same time.
type seriesPlace struct {
	series  bool   // there is a series
	noun    string // "" = run
	planned int    // number of runs; 0 = unknown
	atMost  bool   // planned is a limit, the series may end earlier
	begun   atomic.Int64
}

// next returns the place of the run that begins now: "run 2 of 3"; "" = it is not part of a series.
func (p *seriesPlace) next() string {
	if !p.series {
		return ""
	}
	text := fmt.Sprintf("%s %d", cmp.Or(p.noun, "run"), p.begun.Add(1))
	switch {
	case p.planned > 0 && p.atMost:
		text += fmt.Sprintf(", max %d", p.planned)
	case p.planned > 0:
		text += fmt.Sprintf(" of %d", p.planned)
	}
	return text
}
