package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// mocks are two servers: one of two pods behind a Service with another port, and one of a single pod.
const mocks = `
apiVersion: v1
kind: Service
metadata: {name: llm}
spec: {selector: {app: llm}, clusterIP: None, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Service
metadata: {name: other}
spec: {selector: {app: other}, clusterIP: None, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: llm-0, labels: {app: llm}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: aiperf, args: [mock-server, --host, 0.0.0.0, --port, "8000"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: llm-1, labels: {app: llm}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: aiperf, args: [mock-server, --host, 0.0.0.0, --port, "8000"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: other-0, labels: {app: other}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: aiperf, args: [mock-server, --host, 0.0.0.0, --port, "8000"]}]
`

// exporter is a simulated exporter of GPU metrics on a node.
const exporter = `
apiVersion: v1
kind: Pod
metadata: {name: dcgm, labels: {app: nvidia-dcgm-exporter}, annotations: {prometheus.io/path: /dcgm/metrics}}
spec:
  nodeName: NODE
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: aiperf, args: [mock-server, --host, 0.0.0.0, --port, "9400", --dcgm, "2"]}]
`

// TestKubeServerMetrics: the computer that starts a run finds the metrics pages of the server's pods and of their GPUs, for all URLs.
func TestKubeServerMetrics(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	apply(t, ns, mocks)
	addresses := map[string]string{}
	for _, name := range []string{"llm-0", "llm-1", "other-0"} {
		p := pod(t, ns, name, "running server", func(p *v1.Pod) bool { return running(p) && p.Status.PodIP != "" })
		addresses[name] = p.Status.PodIP
		if name == "llm-0" {
			apply(t, ns, strings.ReplaceAll(exporter, "NODE", p.Spec.NodeName))
		}
	}
	pod(t, ns, "dcgm", "running exporter", running)
	flags := load("http://llm."+ns+".svc:8000", dir, "8")
	c := profile(t, ns, "run", append(flags, "--url", "http://other."+ns+":8000"))
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	says(t, c, "server metrics are read from 3 pods; GPU metrics are read from DCGM exporters on 1 of the server's")
	var servers struct {
		Summary struct {
			Successful []string `json:"endpoints_successful"`
		}
	}
	var report struct {
		GPUs struct {
			Endpoints map[string]struct{ GPUs map[string]any }
		} `json:"telemetry_data"`
	}
	read(t, filepath.Join(dir, "server_metrics_export.json"), &servers)
	read(t, filepath.Join(dir, "profile_export_aiperf.json"), &report)
	if got := servers.Summary.Successful; len(got) != 3 {
		t.Errorf("pages of %v, want one of each pod", got)
	}
	for name, address := range addresses {
		if !strings.Contains(strings.Join(servers.Summary.Successful, " "), "http://"+address+":8000/metrics") {
			t.Errorf("%v has no page of %s at %s", servers.Summary.Successful, name, address)
		}
	}
	for _, e := range report.GPUs.Endpoints {
		if len(e.GPUs) != 2 {
			t.Errorf("%d GPUs, want 2", len(e.GPUs))
		}
	}
	if len(report.GPUs.Endpoints) != 1 {
		t.Errorf("%v", report.GPUs)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "server_pods.json")); err != nil || !strings.Contains(string(text), `"other-0"`) || !strings.Contains(string(text), `"llm-1"`) {
		t.Errorf("%s %v", text, err)
	}
	nothingLeft(t, ns)
}

// read decodes a file of JSON.
func read(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
