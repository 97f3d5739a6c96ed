// Package kubeclient connects runs on a cluster with the Kubernetes API: objects as JSON, output and ports of pods by the kubelet behind it. It follows the rules of
// client-go, which would add 3.8 MB to the program. A test compares what a server receives from both.
package kubeclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/run/kube"
)

// resource is where objects of a kind are.
type resource struct {
	group   string // path of the group and version
	plural  string
	cluster bool // they are in no namespace
}

var resources = map[string]resource{
	"Pod":                     {"api/v1", "pods", false},
	"ConfigMap":               {"api/v1", "configmaps", false},
	"Secret":                  {"api/v1", "secrets", false},
	"Service":                 {"api/v1", "services", false},
	"Event":                   {"api/v1", "events", false},
	"ResourceQuota":           {"api/v1", "resourcequotas", false},
	"Node":                    {"api/v1", "nodes", true},
	"Job":                     {"apis/batch/v1", "jobs", false},
	"SelfSubjectAccessReview": {"apis/authorization.k8s.io/v1", "selfsubjectaccessreviews", true},
}

// pageSize is the number of objects in a page of a list.
const pageSize = "500"

// Client is a cluster. It implements kube.Cluster.
type Client struct {
	link      *link
	namespace string
}

// Namespace implements kube.Cluster.
func (c *Client) Namespace() string { return c.namespace }

// In implements kube.Cluster.
func (c *Client) In(namespace string) kube.Cluster { return &Client{c.link, namespace} }

// CloseIdleConnections closes the connections that are not in use.
func (c *Client) CloseIdleConnections() { c.link.transports.closeIdle() }

// at returns the path of the objects of a kind in the namespace of the client, and the name of the kind.
func (c *Client) at(kind string, names ...string) (path []string, plural string, err error) {
	r, ok := resources[kind]
	if !ok {
		return nil, "", fmt.Errorf("objects of kind %s are not used", kind)
	}
	path = []string{r.group}
	if !r.cluster && c.namespace != "" {
		path = append(path, "namespaces", c.namespace)
	}
	path = append(append(path, r.plural), names...)
	for _, name := range append(slices.Clone(names), c.namespace) {
		if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
			return nil, "", fmt.Errorf("%q cannot be the name of an object or a namespace", name)
		}
	}
	if slices.Contains(names, "") {
		return nil, "", fmt.Errorf("the name of an object of kind %s is missing", kind)
	}
	return path, r.plural, nil
}

// Create implements kube.Cluster.
func (c *Client) Create(ctx context.Context, o kube.Object) (kube.Object, error) {
	kind, _ := o["kind"].(string)
	path, plural, err := c.at(kind)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	made, err := c.link.object(ctx, http.MethodPost, path, nil, body)
	return made, apiError(ctx, "create "+plural, err)
}

// Get implements kube.Cluster.
func (c *Client) Get(ctx context.Context, kind, name string) (kube.Object, error) {
	path, plural, err := c.at(kind, name)
	if err != nil {
		return nil, err
	}
	o, err := c.link.object(ctx, http.MethodGet, path, nil, nil)
	return o, apiError(ctx, "get "+plural, err)
}

// List implements kube.Cluster.
func (c *Client) List(ctx context.Context, kind, labels, fields string) (all []kube.Object, err error) {
	path, plural, err := c.at(kind)
	if err != nil {
		return nil, err
	}
	query := url.Values{"limit": {pageSize}}
	if labels != "" {
		query.Set("labelSelector", labels)
	}
	if fields != "" {
		query.Set("fieldSelector", fields)
	}
	for {
		page, err := c.link.object(ctx, http.MethodGet, path, query, nil)
		if err != nil {
			return nil, apiError(ctx, "list "+plural, err)
		}
		all = append(all, items(page)...)
		meta, _ := page["metadata"].(kube.Object)
		next, _ := meta["continue"].(string)
		if next == "" {
			return all, nil
		}
		query.Set("continue", next)
	}
}

// items returns the objects of a list. The API server leaves out their kind, which the list has.
func items(page kube.Object) (all []kube.Object) {
	kind, _ := page["kind"].(string)
	list, _ := page["items"].([]any)
	for _, one := range list {
		o, ok := one.(kube.Object)
		if !ok {
			continue
		}
		if _, ok := o["kind"]; !ok {
			o["kind"], o["apiVersion"] = strings.TrimSuffix(kind, "List"), page["apiVersion"]
		}
		all = append(all, o)
	}
	return all
}

// Delete implements kube.Cluster.
func (c *Client) Delete(ctx context.Context, kind, name string) error {
	path, plural, err := c.at(kind, name)
	if err != nil {
		return err
	}
	_, err = c.link.object(ctx, http.MethodDelete, path, nil, []byte(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`))
	return apiError(ctx, "delete "+plural, err)
}

// Log implements kube.Cluster.
func (c *Client) Log(ctx context.Context, o kube.LogOptions) (io.ReadCloser, error) {
	path, _, err := c.at("Pod", o.Pod)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if o.Container != "" {
		query.Set("container", o.Container)
	}
	if o.Follow {
		query.Set("follow", "true")
	}
	if o.Tail >= 0 {
		query.Set("tailLines", strconv.FormatInt(o.Tail, 10))
	}
	text, err := c.link.stream(ctx, append(path, "log"), query)
	return text, apiError(ctx, "get pods/log", err)
}

// Dial implements kube.Cluster. Each connection is a separate port-forward.
func (c *Client) Dial(ctx context.Context, pod string, port int) (net.Conn, error) {
	path, _, err := c.at("Pod", pod)
	if err != nil {
		return nil, err
	}
	conn, err := c.link.forward(ctx, append(path, "portforward"), pod, port)
	if err != nil {
		return nil, apiError(ctx, "create pods/portforward", err)
	}
	return conn, nil
}

// apiError adds what was done to an error.
func apiError(ctx context.Context, action string, err error) error {
	var known *kube.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case !errors.As(err, &known):
		return &kube.APIError{Reason: kube.Unreachable, Action: action, Message: err.Error()}
	}
	return &kube.APIError{Reason: known.Reason, Action: action, Message: known.Message}
}
