package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/telemetry/pods"
)

// PagesWanted says which metrics pages of a server to look for in a cluster.
type PagesWanted struct {
	Servers   []string // URLs
	Metrics   bool     // pages of the server's pods
	GPUs      bool     // pages of GPU exporters on the nodes of these pods
	Selector  string   // labels of more pods with metrics, which need not be behind a Service; "" = none
	Namespace string   // of pods with these labels; "" = that of the run, "*" = all
	// GPUSetting is the setting with which the user names GPU exporters, as notes spell it.
	GPUSetting string
}

// ServerPages are the metrics pages of a server in a cluster.
type ServerPages struct {
	Metrics  []string // of pods
	Services []string // host and port of the URLs whose pods have these pages
	GPUs     []string // of exporters
	Pods     []string // of the server, as namespace/name
	Note     string   // what was found, or why nothing was
}

// FindPages looks for the metrics pages of a server. Pods of a run have no rights with which to look themselves.
func FindPages(ctx context.Context, c Cluster, w PagesWanted) ServerPages {
	found := &pageSearch{wanted: w, nodes: map[string]bool{}}
	servers, err := FindServers(ctx, c, w.Servers)
	for _, s := range servers {
		if err == nil {
			err = found.addServer(ctx, s)
		}
	}
	if err == nil && w.Selector != "" {
		err = found.addSelected(ctx, c)
	}
	switch {
	case err != nil:
		return ServerPages{Note: fmt.Sprintf("metrics of the server's pods are not read: %v", err)}
	case len(servers) == 0 && w.Selector == "":
		return ServerPages{Note: noServer(ctx, c, w.Servers)}
	}
	notes := found.metricsNote()
	if w.GPUs {
		notes = append(notes, found.addGPUs(ctx, c))
	}
	found.Note = strings.Join(notes, "; ")
	return found.ServerPages
}

// noServer says why there are no pods of a server.
func noServer(ctx context.Context, c Cluster, servers []string) string {
	for _, server := range servers {
		_, name, namespace, certain := serviceOf(server, c.Namespace())
		if !certain {
			continue
		}
		if _, err := c.In(namespace).Get(ctx, "Service", name); Is(err, NotFound) {
			return fmt.Sprintf("namespace %s has no Service %s, so pods cannot reach it", namespace, name)
		}
	}
	return "no URL names a Service of the cluster, so metrics are read from the URL itself and GPUs are not looked for"
}

// pageSearch is a search for metrics pages.
type pageSearch struct {
	ServerPages
	wanted PagesWanted
	nodes  map[string]bool // of the server's pods
	idle   int             // pods of the server that do not run
}

// addServer adds the running pods behind a Service.
func (f *pageSearch) addServer(ctx context.Context, s *ServerPods) error {
	all, err := s.pods(ctx)
	if err != nil {
		return err
	}
	n := len(f.Metrics)
	for _, p := range all {
		if err := f.addPod(p, pods.Default{Scheme: s.url.Scheme, Port: s.podPort()}); err != nil {
			return err
		}
	}
	if len(f.Metrics) > n {
		f.Services = append(f.Services, s.url.Host)
	}
	return nil
}

// podPort returns the port of the pods to which a Service sends what its URL names: a number, or the name of a port.
func (s *ServerPods) podPort() string {
	port := cmp.Or(s.url.Port(), map[string]string{"https": "443"}[s.url.Scheme], "80")
	for _, one := range list(s.service, "spec", "ports") {
		if strconv.FormatInt(number(one, "port"), 10) != port || text(s.service, "spec", "clusterIP") == "None" {
			continue
		}
		if name := text(one, "targetPort"); name != "" {
			return name
		}
		if n := number(one, "targetPort"); n != 0 {
			return strconv.FormatInt(n, 10)
		}
	}
	return port
}

// addSelected adds the running pods that the user's labels select.
func (f *pageSearch) addSelected(ctx context.Context, c Cluster) error {
	switch f.wanted.Namespace {
	case "":
	case pods.AllNamespaces:
		c = c.In("")
	default:
		c = c.In(f.wanted.Namespace)
	}
	all, err := c.List(ctx, "Pod", f.wanted.Selector, "")
	for _, p := range all {
		err = cmp.Or(err, f.addPod(p, pods.Default{}))
	}
	return err
}

// addPod adds the pages of a pod if it runs.
func (f *pageSearch) addPod(p Object, d pods.Default) error {
	name := text(p, "metadata", "namespace") + "/" + text(p, "metadata", "name")
	if slices.Contains(f.Pods, name) {
		return nil
	}
	if !runs(p) {
		f.idle++
		return nil
	}
	pages, err := pods.Pages(p, d)
	if err != nil {
		return err
	}
	f.Pods = append(f.Pods, name)
	f.nodes[text(p, "spec", "nodeName")] = true
	for _, page := range pages {
		if !slices.Contains(f.Metrics, page) {
			f.Metrics = append(f.Metrics, page)
		}
	}
	return nil
}

// runs reports whether a pod runs and will continue to.
func runs(p Object) bool {
	return text(p, "status", "phase") == "Running" && text(p, "metadata", "deletionTimestamp") == ""
}

// metricsNote says which pods' metrics are read.
func (f *pageSearch) metricsNote() []string {
	note := "server metrics are read from " + terminal.Plural(int64(len(f.Pods)), "pod")
	switch {
	case !f.wanted.Metrics:
		f.Metrics, f.Services = nil, nil
		return nil
	case len(f.Pods) == 0:
		return []string{"no pod of the server runs, so its metrics are not read"}
	case len(f.Metrics) == 0:
		return []string{"the pods of the server name no port, so their metrics are not read"}
	case f.idle > 0:
		note += fmt.Sprintf(" of %d, the others do not run", len(f.Pods)+f.idle)
	}
	return []string{note}
}

// exporterLabels select the pods of GPU exporters: those of NVIDIA's operator, of the exporter's own chart, and of a cloud.
var exporterLabels = []string{"app in (nvidia-dcgm-exporter,dcgm-exporter)", "app.kubernetes.io/name in (dcgm-exporter,nvidia-dcgm-exporter,gke-managed-dcgm-exporter)"}

// exporterPort is the usual port of a DCGM exporter.
const exporterPort = "9400"

// addGPUs adds the exporters on the nodes of the server's pods, and says what it found.
func (f *pageSearch) addGPUs(ctx context.Context, c Cluster) string {
	if len(f.Pods) == 0 {
		return "GPU exporters are not looked for"
	}
	all, everywhere, err := exporters(ctx, c, f.Pods)
	if err != nil {
		return fmt.Sprintf("GPU exporters are not read: %v", err)
	}
	nodes := map[string]bool{}
	for _, p := range all {
		if !f.nodes[text(p, "spec", "nodeName")] || !runs(p) {
			continue
		}
		pages, err := pods.Pages(p, pods.Default{})
		if err == nil && pages == nil { // the pod names no port
			pages, err = pods.Pages(p, pods.Default{Port: exporterPort})
		}
		if err == nil && len(pages) > 0 && !slices.Contains(f.GPUs, pages[0]) {
			f.GPUs = append(f.GPUs, pages[0])
			nodes[text(p, "spec", "nodeName")] = true
		}
	}
	switch {
	case len(f.GPUs) > 0:
		return fmt.Sprintf("GPU metrics are read from DCGM exporters on %d of the server's %s", len(nodes), terminal.Plural(int64(len(f.nodes)), "node"))
	case !everywhere:
		return "no DCGM exporter found: your account may not list pods of all namespaces, so name exporters with " + f.wanted.GPUSetting
	}
	return "no DCGM exporter runs on the server's " + terminal.Plural(int64(len(f.nodes)), "node")
}

// exporters returns the pods of GPU exporters: of all namespaces, or else of those with pods of the server or of the run.
func exporters(ctx context.Context, c Cluster, server []string) (all []Object, everywhere bool, err error) {
	places := map[string]bool{c.Namespace(): true}
	for _, name := range server {
		namespace, _, _ := strings.Cut(name, "/")
		places[namespace] = true
	}
	for _, labels := range exporterLabels {
		some, err := c.In("").List(ctx, "Pod", labels, "")
		if err == nil {
			all, everywhere = append(all, some...), true
			continue
		}
		if !Is(err, Forbidden) {
			return nil, false, err
		}
		for _, namespace := range slices.Sorted(maps.Keys(places)) {
			some, err := c.In(namespace).List(ctx, "Pod", labels, "")
			if err != nil && !Is(err, Forbidden) {
				return nil, false, err
			}
			all = append(all, some...)
		}
	}
	return all, everywhere, nil
}
