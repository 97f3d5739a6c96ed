package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

// Cluster is the part of the Kubernetes API that runs need, in one namespace.
type Cluster interface {
	// Namespace returns the namespace; "" = all, for lists only.
	Namespace() string
	// In returns the same cluster with another namespace.
	In(namespace string) Cluster
	Create(ctx context.Context, o Object) (Object, error)
	Get(ctx context.Context, kind, name string) (Object, error)
	// List returns the objects that a selector of labels or, if fields is given, one of fields selects.
	List(ctx context.Context, kind, labels, fields string) ([]Object, error)
	// Delete deletes an object and what belongs to it.
	Delete(ctx context.Context, kind, name string) error
	// Log returns what a container has written.
	Log(ctx context.Context, o LogOptions) (io.ReadCloser, error)
	// Dial connects to a port of a pod.
	Dial(ctx context.Context, pod string, port int) (net.Conn, error)
}

// LogOptions say what to return of the output of a container.
type LogOptions struct {
	Pod, Container string
	Follow         bool  // until the container ends
	Tail           int64 // lines; negative = all
}

// Reason is why the API refused something.
type Reason string

// The reasons of an APIError.
const (
	NotFound     Reason = "not found"
	Exists       Reason = "exists"
	Forbidden    Reason = "forbidden"
	Quota        Reason = "quota"
	Unauthorized Reason = "unauthorized"
	Invalid      Reason = "invalid"
	Unreachable  Reason = "unreachable" // no answer
	Other        Reason = "other"
)

// APIError is an error of the Kubernetes API.
type APIError struct {
	Reason  Reason
	Action  string // for example "create jobs"
	Message string // of the API server
}

func (e *APIError) Error() string {
	switch e.Reason {
	case Forbidden:
		return fmt.Sprintf("your account may not %s here: %s; ask for a Role with that right, aiperf kube preflight lists all that are needed", e.Action, e.Message)
	case Quota:
		return "the quota of the namespace does not allow it: " + e.Message
	case Unauthorized:
		return "the cluster does not accept your credentials: " + e.Message + "; log in again and check the context of your kubeconfig"
	case Unreachable:
		return "the API server of the cluster does not answer: " + e.Message
	}
	return e.Action + ": " + e.Message
}

// Is reports whether an error of the API has a reason.
func Is(err error, reason Reason) bool {
	var e *APIError
	return errors.As(err, &e) && e.Reason == reason
}

// text returns a text at a path in an object; "" = there is none.
func text(o Object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

// number returns a number at a path in an object; 0 = there is none.
func number(o Object, path ...string) int64 {
	switch n := at(o, path...).(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	case int:
		return int64(n)
	}
	return 0
}

// list returns the objects of a list at a path in an object.
func list(o Object, path ...string) (items []Object) {
	all, _ := at(o, path...).([]any)
	for _, one := range all {
		if item, ok := one.(Object); ok {
			items = append(items, item)
		}
	}
	return items
}

// at returns the value at a path in an object; nil = there is none.
func at(o Object, path ...string) any {
	var v any = o
	for _, key := range path {
		inner, ok := v.(Object)
		if !ok {
			return nil
		}
		v = inner[key]
	}
	return v
}
