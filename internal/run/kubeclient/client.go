// Package kubeclient connects runs on a cluster with the Kubernetes API: objects by the dynamic client, output and ports of pods by the kubelet behind it.
package kubeclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"aiperf/internal/run/kube"
)

// answerLimit is the longest wait for an answer about objects.
const answerLimit = 20 * time.Second

// resource is where objects of a kind are.
type resource struct {
	schema.GroupVersionResource
	cluster bool // they are in no namespace
}

var resources = map[string]resource{
	"Pod":                     {schema.GroupVersionResource{Version: "v1", Resource: "pods"}, false},
	"ConfigMap":               {schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, false},
	"Secret":                  {schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, false},
	"Service":                 {schema.GroupVersionResource{Version: "v1", Resource: "services"}, false},
	"Event":                   {schema.GroupVersionResource{Version: "v1", Resource: "events"}, false},
	"ResourceQuota":           {schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, false},
	"Node":                    {schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, true},
	"Job":                     {schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, false},
	"SelfSubjectAccessReview": {schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}, true},
}

// Transport carries the streams of pods.
type Transport interface {
	Log(ctx context.Context, namespace string, o kube.LogOptions) (io.ReadCloser, error)
	Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error)
}

// Client is a cluster. It implements kube.Cluster.
type Client struct {
	objects   dynamic.Interface
	pods      Transport
	namespace string
}

// New returns a cluster behind a dynamic client.
func New(objects dynamic.Interface, pods Transport, namespace string) *Client {
	return &Client{objects, pods, namespace}
}

// Namespace implements kube.Cluster.
func (c *Client) Namespace() string { return c.namespace }

// In implements kube.Cluster.
func (c *Client) In(namespace string) kube.Cluster { return New(c.objects, c.pods, namespace) }

// at returns where objects of a kind are in the namespace of the client.
func (c *Client) at(kind string) (dynamic.ResourceInterface, string, error) {
	r, ok := resources[kind]
	switch {
	case !ok:
		return nil, "", fmt.Errorf("objects of kind %s are not used", kind)
	case r.cluster:
		return c.objects.Resource(r.GroupVersionResource), r.Resource, nil
	}
	return c.objects.Resource(r.GroupVersionResource).Namespace(c.namespace), r.Resource, nil
}

// Create implements kube.Cluster.
func (c *Client) Create(ctx context.Context, o kube.Object) (kube.Object, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	objects, name, err := c.at(u.GetKind())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	made, err := objects.Create(ctx, u, metav1.CreateOptions{})
	if err != nil {
		return nil, apiError(ctx, "create "+name, err)
	}
	return made.Object, nil
}

// Get implements kube.Cluster.
func (c *Client) Get(ctx context.Context, kind, name string) (kube.Object, error) {
	objects, plural, err := c.at(kind)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	o, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, apiError(ctx, "get "+plural, err)
	}
	return o.Object, nil
}

// List implements kube.Cluster.
func (c *Client) List(ctx context.Context, kind, labels, fields string) (all []kube.Object, err error) {
	objects, plural, err := c.at(kind)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for o := (metav1.ListOptions{LabelSelector: labels, FieldSelector: fields, Limit: 500}); ; {
		page, err := objects.List(ctx, o)
		if err != nil {
			return nil, apiError(ctx, "list "+plural, err)
		}
		for i := range page.Items {
			all = append(all, page.Items[i].Object)
		}
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return all, nil
		}
	}
}

// Delete implements kube.Cluster.
func (c *Client) Delete(ctx context.Context, kind, name string) error {
	objects, plural, err := c.at(kind)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	dependents := metav1.DeletePropagationBackground
	return apiError(ctx, "delete "+plural, objects.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &dependents}))
}

// Log implements kube.Cluster.
func (c *Client) Log(ctx context.Context, o kube.LogOptions) (io.ReadCloser, error) {
	text, err := c.pods.Log(ctx, c.namespace, o)
	return text, apiError(ctx, "get pods/log", err)
}

// Dial implements kube.Cluster.
func (c *Client) Dial(ctx context.Context, pod string, port int) (net.Conn, error) {
	conn, err := c.pods.Dial(ctx, c.namespace, pod, port)
	return conn, apiError(ctx, "create pods/portforward", err)
}

// apiError translates an error of client-go.
func apiError(ctx context.Context, action string, err error) error {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case !errors.As(err, &status):
		return &kube.APIError{Reason: kube.Unreachable, Action: action, Message: err.Error()}
	}
	return &kube.APIError{Reason: reasonOf(err), Action: action, Message: status.Status().Message}
}

// reasonOf returns why the API server refused something.
func reasonOf(err error) kube.Reason {
	switch {
	case apierrors.IsNotFound(err):
		return kube.NotFound
	case apierrors.IsAlreadyExists(err):
		return kube.Exists
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return kube.Quota
	case apierrors.IsForbidden(err):
		return kube.Forbidden
	case apierrors.IsUnauthorized(err):
		return kube.Unauthorized
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return kube.Invalid
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsTooManyRequests(err):
		return kube.Unreachable
	}
	return kube.Other
}
