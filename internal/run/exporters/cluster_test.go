package exporters

import (
	"bytes"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/run/message"
)

// TestInCluster: a cluster is asked if the settings say so and there is one; a failure there is a warning. It sets the environment and
// so is not parallel.
func TestInCluster(t *testing.T) {
	t.Setenv("AIPERF_NAMESPACE", "x")
	for _, c := range []struct{ mode, host, want string }{
		{"auto", "", ""}, {"disabled", "127.0.0.1", ""}, {"kubernetes", "", "this run is not in a Kubernetes cluster"},
		{"auto", "127.0.0.1", "looking for servers in the Kubernetes cluster: "}, {"kubernetes", "127.0.0.1", "looking for servers in the Kubernetes cluster: "},
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", c.host)
		t.Setenv("KUBERNETES_SERVICE_PORT", "1") // nobody listens there
		b := &config.Default().Benchmark
		b.ServerMetrics.Discovery.Mode = c.mode
		var errs bytes.Buffer
		w := New(Options{Config: b, Say: message.New(message.Options{Level: "INFO", Err: &errs})})
		if found := w.inCluster(t.Context()); found != nil || !strings.Contains(errs.String(), c.want) || c.want == "" && errs.String() != "" {
			t.Errorf("%s at %q: %q, said %q, want %q", c.mode, c.host, found, errs.String(), c.want)
		}
	}
}

// TestPagesFoundBefore: pages that were found before the run are read instead of those of the Services to which they belong.
func TestPagesFoundBefore(t *testing.T) {
	b := &config.Default().Benchmark
	w := New(Options{Config: b, URLs: []string{"http://vllm:8000/v1", "http://other:8000"}})
	if got := w.metricsServers(); len(got) != 2 {
		t.Error(got)
	}
	d := &b.ServerMetrics.Discovery
	d.Mode, d.Pages, d.Services = "disabled", []string{"http://10.0.0.1:8000/metrics"}, []string{"vllm:8000"}
	if got := w.metricsServers(); len(got) != 1 || got[0] != "http://other:8000" {
		t.Error(got)
	}
	if got := w.inCluster(t.Context()); len(got) != 1 || got[0] != d.Pages[0] {
		t.Error(got)
	}
}
