// Package kubefake is a cluster for tests: an API server over the fake API of client-go, which runs reach by the client of the program, pods that the test sets,
// and a server behind every port of every pod.
package kubefake

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeclient"
	"aiperf/internal/run/kubeconfig"
)

// Namespace is the namespace of the cluster.
const Namespace = "bench"

// Cluster is a cluster for a test.
type Cluster struct {
	kube.Cluster
	API    *fake.FakeDynamicClient
	Logs   map[string]string // output of pods by name
	Server string            // host:port behind the ports of pods; "" = nobody listens
	Down   atomic.Bool       // nobody answers

	t *testing.T
}

// lists are the kinds of lists of the resources.
var lists = map[schema.GroupVersionResource]string{
	{Version: "v1", Resource: "pods"}: "PodList", {Version: "v1", Resource: "configmaps"}: "ConfigMapList", {Version: "v1", Resource: "secrets"}: "SecretList",
	{Version: "v1", Resource: "services"}: "ServiceList", {Version: "v1", Resource: "events"}: "EventList", {Version: "v1", Resource: "resourcequotas"}: "ResourceQuotaList",
	{Version: "v1", Resource: "nodes"}: "NodeList", {Group: "batch", Version: "v1", Resource: "jobs"}: "JobList",
}

// New returns an empty cluster that gives new objects a UID.
func New(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{API: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists), Logs: map[string]string{}, t: t}
	c.API.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made, _ := action.(clienttesting.CreateAction)
		if o, ok := made.GetObject().(*unstructured.Unstructured); ok && o.GetUID() == "" {
			o.SetUID("uid-" + types.UID(o.GetName()))
		}
		return false, nil, nil
	})
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubeclient.New(&kubeconfig.Access{URL: at, Namespace: Namespace}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	c.Cluster = client
	return c
}

// Refuse makes the API refuse a verb on a resource.
func (c *Cluster) Refuse(verb, resource string, err error) {
	c.API.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

// RefuseIn makes the API refuse a verb on a resource in one namespace only; "" = a request for all namespaces.
func (c *Cluster) RefuseIn(namespace, verb, resource string, err error) {
	c.API.PrependReactor(verb, resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		return a.GetNamespace() == namespace, nil, err
	})
}

// Allow answers all questions about rights; forbidden are verb and resource of those that are missing, such as "create pods/portforward".
func (c *Cluster) Allow(forbidden ...string) {
	c.API.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made, _ := action.(clienttesting.CreateAction)
		o, ok := made.GetObject().(*unstructured.Unstructured)
		if !ok {
			return true, nil, errors.New("not an object")
		}
		asked, _, _ := unstructured.NestedStringMap(o.Object, "spec", "resourceAttributes")
		name := strings.TrimSuffix(asked["verb"]+" "+asked["resource"]+"/"+asked["subresource"], "/")
		allowed := true
		for _, f := range forbidden {
			allowed = allowed && f != name
		}
		return true, o, unstructured.SetNestedField(o.Object, allowed, "status", "allowed")
	})
}

// Add puts an object into the cluster, written as JSON.
func (c *Cluster) Add(text string) {
	c.t.Helper()
	var o kube.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Create(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
}

// Pod adds a pod of a run in a phase; status has further members of its status, as JSON without braces.
func (c *Cluster) Pod(run, role, name, phase, status string) {
	c.t.Helper()
	if status != "" {
		status = "," + status
	}
	c.Add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"` + Namespace + `","labels":{"aiperf/run":"` + run + `","aiperf/role":"` + role +
		`","app.kubernetes.io/managed-by":"aiperf"}},"status":{"phase":"` + phase + `"` + status + `}}`)
}
