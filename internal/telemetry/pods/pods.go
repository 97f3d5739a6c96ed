// Package pods finds the pages of metrics of inference servers in the Kubernetes cluster that the run is in: it asks the API of the cluster for
// the pods that are running, with the service account of its own pod, and makes URLs of those that serve models. Labels, annotations and
// images are those that the Python tool looks at.
package pods

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AllNamespaces is the namespace that stands for all of them.
const AllNamespaces = "*"

// Where Kubernetes puts the service account of a pod, and the variables by which it tells where its API is.
const (
	accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"
	hostVariable  = "KUBERNETES_SERVICE_HOST"
	portVariable  = "KUBERNETES_SERVICE_PORT"
)

// Options say whom to ask and for what.
type Options struct {
	Namespace string        // "" = that of the pod, AllNamespaces = every one
	Selector  string        // of labels, as app=vllm,env=prod; pods that it picks need no other sign of a server
	Timeout   time.Duration // of all questions together; 0 = none
	Getenv    func(string) string
	Account   string // folder of the service account; "" = where Kubernetes puts it
}

// Inside tells whether this process runs in a pod of a cluster.
func Inside(getenv func(string) string) bool { return getenv(hostVariable) != "" }

// Find lists the pages of metrics of the servers in the cluster, sorted, each once.
func Find(ctx context.Context, o Options) ([]string, error) {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	if o.Account == "" {
		o.Account = accountFolder
	}
	if o.Namespace == "" {
		own, err := ownNamespace(o)
		if err != nil {
			return nil, err
		}
		o.Namespace = own
	}
	c, err := o.client()
	if err != nil {
		return nil, err
	}
	defer c.CloseIdleConnections()
	var urls []string
	for next := ""; ; {
		page, err := o.page(ctx, c, next)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			urls = append(urls, page.Items[i].urls(o.Selector != "")...)
		}
		if next = page.Metadata.Continue; next == "" {
			slices.Sort(urls)
			return slices.Compact(urls), nil
		}
	}
}

// ownNamespace is that of this pod.
func ownNamespace(o Options) (string, error) {
	if name := o.Getenv("AIPERF_NAMESPACE"); name != "" {
		return name, nil
	}
	text, err := os.ReadFile(filepath.Join(o.Account, "namespace"))
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name, nil
	}
	return "", errors.New("the namespace of this pod is not known (no AIPERF_NAMESPACE, no service account)")
}

// client trusts the cluster's own authority.
func (o *Options) client() (*http.Client, error) {
	text, err := os.ReadFile(filepath.Join(o.Account, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("service account: ca.crt holds no certificate")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}, nil
}

// The most that is read of one page of pods, and the pods of one.
const (
	mostBytes = 64 << 20
	pageSize  = "500"
)

// page asks for one page of the pods that run; next is where the last one ended.
func (o *Options) page(ctx context.Context, c *http.Client, next string) (*podList, error) {
	token, err := os.ReadFile(filepath.Join(o.Account, "token")) // read for each page: Kubernetes renews it
	if err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	port := o.Getenv(portVariable)
	if port == "" {
		port = "443"
	}
	at := url.URL{Scheme: "https", Host: net.JoinHostPort(o.Getenv(hostVariable), port), Path: "/api/v1/pods"}
	if o.Namespace != AllNamespaces {
		at.Path = "/api/v1/namespaces/" + o.Namespace + "/pods"
	}
	query := url.Values{"fieldSelector": {"status.phase=Running"}, "limit": {pageSize}}
	if o.Selector != "" {
		query.Set("labelSelector", o.Selector)
	}
	if next != "" {
		query.Set("continue", next)
	}
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusForbidden:
		return nil, errors.New(o.forbidden())
	default:
		return nil, fmt.Errorf("the API of the cluster answers with status %d", resp.StatusCode)
	}
	page := &podList{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostBytes)).Decode(page); err != nil {
		return nil, fmt.Errorf("the answer of the cluster's API is no list of pods: %w", err)
	}
	return page, nil
}

// forbidden says what the service account lacks.
func (o *Options) forbidden() string {
	if o.Namespace == AllNamespaces {
		return "the service account may not list the pods of all namespaces: it needs a ClusterRole with the verb list on pods, or name one namespace"
	}
	return "the service account may not list the pods of namespace " + o.Namespace + ": it needs a Role with the verb list on pods there"
}
