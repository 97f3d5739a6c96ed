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

// TestServePage: a browser here gets what the pod's page answers, with the token of the run, until the user leaves.
func TestServePage(t *testing.T) {
	cluster, _, run, _ := following(t, &controller{})
	remote, err := kube.NewRemote(t.Context(), cluster, run)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
