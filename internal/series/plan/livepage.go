package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/livepage"
)

// openPaths lists the paths of the live page that need no token, as those of the API.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// openLivePage starts the live page if the settings ask for one, and prints its address. It shows one run after the other until hide.
func (i *session) openLivePage(ctx context.Context) (hide func(), err error) {
	address := i.run.Runtime.Web
	if address == "" {
		return func() {}, nil
	}
	given := cmp.Or(i.run.Runtime.APIToken, i.run.Environment.API.Token)
	i.web, err = livepage.Listen(ctx, livepage.Options{
		Address: address, Token: cmp.Or(given, rand.Text()), Version: i.Version, Open: func(path string) bool { return openPaths[path] },
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

// sayLivePage prints the address of the live page. chosen says that the user chose the token, which is not printed.
func (i *session) sayLivePage(chosen bool) {
	note := ""
	if chosen {
		note = " (with the token that you gave: ?token=TOKEN)"
	}
	fmt.Fprintf(i.Err, "aiperf: live page of this run: %s%s\n", terminal.Text(i.web.Address(!chosen)), note)
	host, _, err := net.SplitHostPort(i.run.Runtime.Web)
	if ip := net.ParseIP(host); err == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		fmt.Fprintf(i.Err, "warning: %s %s: anyone who can reach this machine and knows the address can see the run; nothing is encrypted\n", i.run.As("runtime.web"), i.run.Runtime.Web)
	}
}
