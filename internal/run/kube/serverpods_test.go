package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubefake"
	"aiperf/internal/run/podserver"
)

// addServer puts a Service and its two pods into a cluster, and one pod that is not behind it.
func addServer(c *kubefake.Cluster) {
	c.Add(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"vllm"},"spec":{"selector":{"app":"vllm"}}}`)
	c.Add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"vllm-0","labels":{"app":"vllm"}},"status":{"phase":"Running","containerStatuses":[` +
		`{"restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"reason":"OOMKilled","finishedAt":"1970-01-01T00:01:40Z"}}},{"restartCount":1}]}}`)
	c.Add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"vllm-1","labels":{"app":"vllm"}},"status":{"phase":"Failed","reason":"Evicted","message":"disk"}}`)
	c.Add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"other","labels":{"app":"other"}},"status":{"phase":"Running"}}`)
}

// TestServerPods: the pods behind the host of a URL, with their restarts.
func TestServerPods(t *testing.T) {
	c := kubefake.New(t)
	addServer(c)
	want := []podserver.ServerPod{{Name: "vllm-0", UID: "uid-vllm-0", Restarts: 3, EndedAt: 100e9, Reason: "OOMKilled"}, {Name: "vllm-1", UID: "uid-vllm-1", Evicted: "disk"}}
	for server, is := range map[string]bool{
		"http://vllm:8000/v1": true, "http://vllm.bench": true, "https://vllm.bench.svc.cluster.local:443": true, "http://vllm.other.svc": false,
		"http://10.0.0.1": false, "http://example.com": false, "http://localhost:8000": false, "http://vllm.bench.example.com": false, "mock://": false, "": false,
	} {
		pods, err := kube.FindServer(t.Context(), c, server)
		if err != nil || (pods != nil) != is {
			t.Errorf("%s: %v %v", server, pods, err)
			continue
		}
		if pods == nil {
			continue
		}
		if got, err := kube.States(t.Context(), []*kube.ServerPods{pods, pods}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v %v", server, got, err)
		}
	}
	c.Refuse("get", "services", apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "x", errors.New("no")))
	if _, err := kube.FindServer(t.Context(), c, "http://vllm.bench.svc"); !kube.Is(err, kube.Forbidden) {
		t.Error(err)
	}
	if pods, err := kube.FindServer(t.Context(), c, "http://example.com"); pods != nil || err != nil {
		t.Error(pods, err)
	}
}

// TestWatchServer: a run hears of the pods of its server again and again, and the user hears of a missing right.
func TestWatchServer(t *testing.T) {
	c := kubefake.New(t)
	heard := make(chan []podserver.ServerPod)
	controller := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var list []podserver.ServerPod
		if r.URL.Path != "/api/server-pods" || json.NewDecoder(r.Body).Decode(&list) != nil {
			list = nil
		}
		select {
		case heard <- list:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(controller.Close)
	c.Server = controller.Listener.Addr().String()
	if err := kube.Apply(t.Context(), c, sample(), keys); err != nil {
		t.Fatal(err)
	}
	c.Pod("demo", "controller", "p", "Running", "")
	addServer(c)
	run, err := kube.Find(t.Context(), c, "demo", "")
	if err != nil {
		t.Fatal(err)
	}
	run.Endpoints = []string{"http://example.com", "http://vllm.bench.svc:8000"}
	notes := make(chan string, 1)
	f := &kube.Follower{Cluster: c, Poll: time.Millisecond, Note: func(text string) { notes <- text }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.WatchServer(ctx, run)
	}()
	for range 2 {
		if list := <-heard; len(list) != 2 || list[0].Name != "vllm-0" {
			t.Errorf("%+v", list)
		}
	}
	cancel()
	<-ended

	run.Endpoints = []string{"http://example.com"}
	f.WatchServer(t.Context(), run) // it ends by itself
	run.Endpoints = []string{"http://vllm"}
	c.Refuse("list", "pods", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no")))
	f.WatchServer(t.Context(), run)
	if text := <-notes; !strings.Contains(text, "the pods of the server are not watched: your account may not list pods here") {
		t.Error(text)
	}
}
