package kube

import (
	"cmp"
	"context"
	"fmt"
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
	service  Object
	selector string // labels of the pods
	url      *url.URL
}

// FindServer returns the pods behind the Service that a URL names as pods of the cluster do, for example http://vllm.prod.svc:8000; nil = the host is not a
// Service with a selector.
func FindServer(ctx context.Context, c Cluster, server string) (*ServerPods, error) {
	u, name, namespace, certain := serviceOf(server, c.Namespace())
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
	for _, key := range sorted(labels) {
		terms = append(terms, key+"="+text(labels, key))
	}
	if terms == nil {
		return nil, nil
	}
	return &ServerPods{cluster: c, service: service, selector: strings.Join(terms, ","), url: u}, nil
}

// FindServers returns the pods behind each Service that one of the URLs names.
func FindServers(ctx context.Context, c Cluster, servers []string) (list []*ServerPods, err error) {
	for _, server := range servers {
		found, err := FindServer(ctx, c, server)
		if err != nil {
			return nil, err
		}
		if found != nil {
			list = append(list, found)
		}
	}
	return list, nil
}

// serviceOf returns the name and the namespace of the Service that a URL may mean; certain means that it cannot be another host.
func serviceOf(server, own string) (u *url.URL, name, namespace string, certain bool) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return nil, "", "", false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil, "", "", false
	}
	parts := strings.Split(strings.ToLower(u.Hostname()), ".")
	switch {
	case len(parts) == 1:
		return u, parts[0], own, false
	case len(parts) == 2:
		return u, parts[0], parts[1], false
	case parts[2] == "svc":
		return u, parts[0], parts[1], true
	}
	return nil, "", "", false
}

// pods returns the pods as the API shows them.
func (s *ServerPods) pods(ctx context.Context) ([]Object, error) {
	return s.cluster.List(ctx, "Pod", s.selector, "")
}

// key tells Services with the same pods from others.
func (s *ServerPods) key() string { return s.cluster.Namespace() + " " + s.selector }

// States returns the state of every pod of some Services. Where these are in several namespaces, the namespace is part of the name of a pod.
func States(ctx context.Context, servers []*ServerPods) ([]podserver.ServerPod, error) {
	all, seen, namespaces := []podserver.ServerPod{}, map[string]bool{}, map[string]bool{}
	for _, s := range servers {
		namespaces[s.cluster.Namespace()] = true
	}
	for _, s := range servers {
		if seen[s.key()] {
			continue
		}
		seen[s.key()] = true
		pods, err := s.pods(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range pods {
			state := stateOf(p)
			if len(namespaces) > 1 {
				state.Name = s.cluster.Namespace() + "/" + state.Name
			}
			if !slices.ContainsFunc(all, func(o podserver.ServerPod) bool { return o.Name == state.Name }) {
				all = append(all, state)
			}
		}
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
	w := serverWatch{cluster: f.Cluster, run: run, connector: NewConnector(f.Cluster, run)}
	defer w.connector.Close()
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil || err == nil && w.servers == nil:
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
	cluster   Cluster
	run       *Run
	servers   []*ServerPods // nil = not found yet, or no URL names a Service
	connector *Connector
}

// look sends the state of the pods once.
func (w *serverWatch) look(ctx context.Context) (err error) {
	if w.servers == nil {
		if w.servers, err = FindServers(ctx, w.cluster, w.run.Endpoints); err != nil || w.servers == nil {
			return err
		}
	}
	states, err := States(ctx, w.servers)
	if err != nil {
		return err
	}
	remote, err := w.connector.Remote(ctx)
	if err != nil {
		return err
	}
	return remote.SendServerPods(ctx, states)
}
