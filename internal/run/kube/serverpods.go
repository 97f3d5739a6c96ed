package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"aiperf/internal/run/podserver"
)

// ServerPods are the pods behind the Service of a benchmarked server.
type ServerPods struct {
	cluster  Cluster // in the namespace of the Service
	selector string  // labels of the pods
}

// FindServer returns the pods behind the Service that a URL names as pods of the cluster do, for example http://vllm.prod.svc:8000; nil = the host is not a
// Service with a selector.
func FindServer(ctx context.Context, c Cluster, server string) (*ServerPods, error) {
	name, namespace, certain := serviceOf(server, c.Namespace())
	if name == "" {
		return nil, nil
	}
	c = c.In(namespace)
	service, err := c.Get(ctx, "Service", name)
	switch {
	case err != nil && (Is(err, NotFound) || !certain):
		return nil, nil // it is the name of another host
	case err != nil:
		return nil, err
	}
	labels, _ := at(service, "spec", "selector").(Object)
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		terms = append(terms, key+"="+text(labels, key))
	}
	if terms == nil {
		return nil, nil
	}
	return &ServerPods{cluster: c, selector: strings.Join(terms, ",")}, nil
}

// serviceOf returns the name and the namespace of the Service that a URL may mean; certain means that it cannot be another host.
func serviceOf(server, own string) (name, namespace string, certain bool) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return "", "", false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return "", "", false
	}
	parts := strings.Split(strings.ToLower(u.Hostname()), ".")
	switch {
	case len(parts) == 1:
		return parts[0], own, false
	case len(parts) == 2:
		return parts[0], parts[1], false
	case parts[2] == "svc":
		return parts[0], parts[1], true
	}
	return "", "", false
}

// States returns the state of every pod.
func (s *ServerPods) States(ctx context.Context) ([]podserver.ServerPod, error) {
	pods, err := s.cluster.List(ctx, "Pod", s.selector, "")
	if err != nil {
		return nil, err
	}
	all := []podserver.ServerPod{}
	for _, p := range pods {
		all = append(all, stateOf(p))
	}
	return all, nil
}

// stateOf returns the state of a pod.
func stateOf(pod Object) podserver.ServerPod {
	s := podserver.ServerPod{Name: text(pod, "metadata", "name"), UID: text(pod, "metadata", "uid")}
	for _, c := range list(pod, "status", "containerStatuses") {
		s.Restarts += number(c, "restartCount")
		for _, state := range []string{"state", "lastState"} {
			ended, err := time.Parse(time.RFC3339, text(c, state, "terminated", "finishedAt"))
			if err == nil && ended.UnixNano() > s.EndedAt {
				s.EndedAt, s.Reason = ended.UnixNano(), text(c, state, "terminated", "reason")
			}
		}
	}
	if text(pod, "status", "reason") == "Evicted" {
		s.Evicted = orElse(oneLine(text(pod, "status", "message")), "Evicted")
	}
	return s
}

// watchPeriod is the time between two looks at the pods of the server.
const watchPeriod = 2 * time.Second

// WatchServer tells a run about the pods of its server until the context ends. Without a Service, it ends at once; without the right to read the pods, it also
// says so.
func (f *Follower) WatchServer(ctx context.Context, run *Run) {
	w := serverWatch{cluster: f.Cluster, run: run}
	defer w.close()
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil || err == nil && w.server == nil:
			return
		case isFinal(err):
			f.Note(fmt.Sprintf("the pods of the server are not watched: %v", err))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(f.Poll, watchPeriod)):
		}
	}
}

// serverWatch carries the state of a server's pods to a run.
type serverWatch struct {
	cluster Cluster
	run     *Run
	server  *ServerPods // nil = not found yet, or it is not a Service
	remote  *Remote     // nil = not connected
}

// look sends the state of the pods once.
func (w *serverWatch) look(ctx context.Context) (err error) {
	if w.server == nil {
		if w.server, err = FindServer(ctx, w.cluster, w.run.Endpoint); err != nil || w.server == nil {
			return err
		}
	}
	states, err := w.server.States(ctx)
	if err != nil {
		return err
	}
	if w.remote == nil {
		if w.remote, err = NewRemote(ctx, w.cluster, w.run); err != nil {
			return err
		}
	}
	return w.remote.SendServerPods(ctx, states)
}

func (w *serverWatch) close() {
	if w.remote != nil {
		w.remote.Close()
	}
}
