package kube_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/run/kube"
)

// pageServer returns a run on a cluster, reached through wrap, and a listener for its live page.
func pageServer(t *testing.T, wrap func(kube.Cluster) kube.Cluster) (*kube.Remote, net.Listener) {
	t.Helper()
	cluster, _, run, _ := following(t, &controller{})
	remote, err := kube.NewRemote(t.Context(), wrap(cluster), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remote.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return remote, l
}

// TestServePage: a browser here gets what the pod's page answers, with the token of the run, until the user leaves.
func TestServePage(t *testing.T) {
	remote, l := pageServer(t, func(c kube.Cluster) kube.Cluster { return c })
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- remote.ServePage(ctx, l, func(err error) { t.Error(err) }) }()
	link := remote.PageLink(l.Addr())
	if !strings.HasPrefix(link, "http://127.0.0.1:") || !strings.HasSuffix(link, "/?token=token-of-the-api") {
		t.Error(link)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(link, "/?", "/api/state?", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token-of-the-api")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), "state") {
		t.Errorf("%s %q %v", resp.Status, text, err)
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// closedPage is a cluster in whose pod nobody listens at the port of the page: the port-forward begins, and says so when it is read.
type closedPage struct{ kube.Cluster }

func (c closedPage) Dial(ctx context.Context, pod string, port int) (net.Conn, error) {
	if port != kube.PagePort {
		return c.Cluster.Dial(ctx, pod, port)
	}
	here, there := net.Pipe()
	return brokenForward{here}, there.Close()
}

type brokenForward struct{ net.Conn }

func (brokenForward) Read([]byte) (int, error) { return 0, errors.New("connection refused in the pod") }

// TestServePageThatIsClosed: the user hears once why the page does not come.
func TestServePageThatIsClosed(t *testing.T) {
	remote, l := pageServer(t, func(c kube.Cluster) kube.Cluster { return closedPage{c} })
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	faults, ended := make(chan string, 8), make(chan error, 1)
	go func() { ended <- remote.ServePage(ctx, l, func(err error) { faults <- err.Error() }) }()
	for range 2 {
		browser, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(browser); len(text) > 0 {
			t.Errorf("%q %v", text, err)
		}
		browser.Close()
	}
	leave()
	<-ended
	if close(faults); len(faults) != 1 || <-faults != "connection refused in the pod" {
		t.Errorf("%d faults", len(faults))
	}
}
