package kube_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubefake"
)

// podWith returns a running pod as JSON: its name and label, node, address and ports of its container.
func podWith(namespace, name, label, node, address, ports string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"` + namespace + `","labels":{` + label + `}},"spec":{"nodeName":"` + node +
		`","containers":[{"ports":[` + ports + `]}]},"status":{"phase":"Running","podIP":"` + address + `"}}`
}

// gpuServer returns a cluster with a server of two pods on two nodes, one of which has a GPU exporter. A third pod does not run.
func gpuServer(t *testing.T) *kubefake.Cluster {
	t.Helper()
	c := kubefake.New(t)
	c.Add(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"vllm"},"spec":{"selector":{"app":"vllm"},"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":9001}]}}`)
	http := `{"containerPort":9000},{"name":"http","containerPort":8000}`
	c.Add(podWith("bench", "vllm-0", `"app":"vllm"`, "a", "10.0.0.1", http))
	c.Add(podWith("bench", "vllm-1", `"app":"vllm"`, "b", "10.0.0.2", http))
	c.Add(strings.Replace(podWith("bench", "vllm-2", `"app":"vllm"`, "b", "10.0.0.3", http), "Running", "Pending", 1))
	c.Add(podWith("bench", "sidecar", `"role":"metrics"`, "b", "10.0.0.4", `{"name":"metrics","containerPort":7000}`))
	if _, err := c.In("gpu-operator").Create(t.Context(), object(t, podWith("gpu-operator", "dcgm-a", `"app":"nvidia-dcgm-exporter"`, "a", "10.0.1.1", `{"name":"metrics","containerPort":9400}`))); err != nil {
		t.Fatal(err)
	}
	c.Add(podWith("bench", "dcgm-c", `"app.kubernetes.io/name":"dcgm-exporter"`, "c", "10.0.1.3", ""))
	return c
}

// TestExporterPorts: an exporter is read at the port that its pod names, and at the usual one if it names none.
func TestExporterPorts(t *testing.T) {
	for ports, want := range map[string]string{`{"containerPort":9500}`: "9500", `{"containerPort":1},{"name":"metrics","containerPort":9600}`: "9600", "": "9400"} {
		c := gpuServer(t)
		c.Add(podWith("bench", "dcgm-b", `"app":"dcgm-exporter"`, "b", "10.0.1.2", ports))
		w := kube.PagesWanted{Servers: []string{"http://vllm"}, GPUs: true}
		if got := kube.FindPages(t.Context(), c, w); !slices.Contains(got.GPUs, "http://10.0.1.2:"+want+"/metrics") {
			t.Errorf("%s: %q, want port %s", ports, got.GPUs, want)
		}
	}
}

// TestFindPages: the pages of the server's pods and of the exporters on their nodes, at the ports that the Service says.
func TestFindPages(t *testing.T) {
	both := kube.PagesWanted{Servers: []string{"http://vllm.bench.svc"}, Metrics: true, GPUs: true}
	for _, one := range []struct {
		change         func(*kube.PagesWanted)
		metrics, gpus  string
		note, services string
	}{
		{func(*kube.PagesWanted) {}, "http://10.0.0.1:8000/metrics http://10.0.0.2:8000/metrics", "http://10.0.1.1:9400/metrics",
			"server metrics are read from 2 pods of 3, the others do not run; GPU metrics are read from DCGM exporters on 1 of the server's 2 nodes", "vllm.bench.svc"},
		{func(w *kube.PagesWanted) { w.Servers[0], w.GPUs = "https://vllm:81/v1", false }, "https://10.0.0.1:9001/metrics https://10.0.0.2:9001/metrics", "",
			"server metrics are read from 2 pods of 3, the others do not run", "vllm:81"},
		{func(w *kube.PagesWanted) { w.Metrics = false }, "", "http://10.0.1.1:9400/metrics", "GPU metrics are read from DCGM exporters on 1 of the server's 2 nodes", ""},
		{func(w *kube.PagesWanted) { w.Servers, w.Selector = nil, "role=metrics" }, "http://10.0.0.4:7000/metrics", "",
			"server metrics are read from 1 pod; no DCGM exporter runs on the server's 1 node", ""},
		{func(w *kube.PagesWanted) { w.Servers, w.Selector, w.GPUs = nil, "role=none", false }, "", "", "no pod of the server runs, so its metrics are not read", ""},
		{func(w *kube.PagesWanted) { w.Servers = []string{"http://absent.bench.svc"} }, "", "", "namespace bench has no Service absent, so pods cannot reach it", ""},
		{func(w *kube.PagesWanted) { w.Servers = []string{"http://10.1.1.1:8000"} }, "", "", "no URL names a Service of the cluster", ""},
	} {
		w := both
		w.Servers = slices.Clone(both.Servers)
		one.change(&w)
		got := kube.FindPages(t.Context(), gpuServer(t), w)
		if strings.Join(got.Metrics, " ") != one.metrics || strings.Join(got.GPUs, " ") != one.gpus || !strings.HasPrefix(got.Note, one.note) || strings.Join(got.Services, " ") != one.services {
			t.Errorf("%+v, want %+v", got, one)
		}
	}
}

// TestFindPagesWithoutRights: a missing right is named, and never ends a run.
func TestFindPagesWithoutRights(t *testing.T) {
	w := kube.PagesWanted{Servers: []string{"http://vllm"}, Metrics: true, GPUs: true, GPUSetting: "gpu_telemetry.urls"}
	c := gpuServer(t)
	c.RefuseIn("", "list", "pods", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no")))
	if got := kube.FindPages(t.Context(), c, w); len(got.Metrics) != 2 || len(got.GPUs) != 0 || !strings.Contains(got.Note, "your account may not list pods of all namespaces, so name exporters with gpu_telemetry.urls") {
		t.Errorf("%+v", got)
	}
	c.Refuse("list", "pods", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no")))
	if got := kube.FindPages(t.Context(), c, w); len(got.Metrics) != 0 || !strings.Contains(got.Note, "metrics of the server's pods are not read: your account may not list pods here") {
		t.Errorf("%+v", got)
	}
}

// object reads an object from JSON.
func object(t *testing.T, text string) (o kube.Object) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}
