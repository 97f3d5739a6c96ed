// Package pods finds the metrics pages of inference servers in the Kubernetes cluster of the run. It asks the API of the cluster for the running pods,
// with the service account of aiperf's pod, and returns URLs of those that serve models. It checks the same labels, annotations and images as the
// Python tool.
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

// AllNamespaces means all namespaces.
const AllNamespaces = "*"

// Paths of the service account of a pod, and the variables with the address of the API.
const (
	accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"
	hostVariable  = "KUBERNETES_SERVICE_HOST"
	portVariable  = "KUBERNETES_SERVICE_PORT"
)

// Options selects the pods.
type Options struct {
	Namespace string        // "" = that of this pod, AllNamespaces = all
	Selector  string        // label selector such as app=vllm,env=prod; pods that match need no other sign of a server
	Timeout   time.Duration // for all requests together; 0 = none
	Getenv    func(string) string
	Account   string // directory of the service account; "" = the default of Kubernetes
}

// Inside reports whether this process runs in a pod of a cluster.
func Inside(getenv func(string) string) bool { return getenv(hostVariable) != "" }

// Find lists the metrics pages of the servers in the cluster, sorted, without duplicates.
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
			urls = append(urls, page.Items[i].urls(o.Selector != "", Default{})...)
		}
		if next = page.Metadata.Continue; next == "" {
			slices.Sort(urls)
			return slices.Compact(urls), nil
		}
	}
}

// ownNamespace returns the namespace of this pod.
func ownNamespace(o Options) (string, error) {
	if name := o.Getenv("AIPERF_NAMESPACE"); name != "" {
		return name, nil
	}
	text, err := os.ReadFile(filepath.Join(o.Account, "namespace"))
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name, nil
	}
	return "", errors.New("the namespace of this pod is unknown, because there is no service account; set AIPERF_NAMESPACE")
}

// client returns a client that trusts the cluster's own certificate authority.
func (o *Options) client() (*http.Client, error) {
	text, err := os.ReadFile(filepath.Join(o.Account, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("service account: ca.crt has no certificate")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}, nil
}

// The largest size of one page of pods, and the number of pods on it.
const (
	maxBytes = 64 << 20
	pageSize = "500"
)

// page requests one page of the running pods; next is the token from the previous one.
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
		return nil, fmt.Errorf("the cluster's API answered with status %d", resp.StatusCode)
	}
	page := &podList{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBytes)).Decode(page); err != nil {
		return nil, fmt.Errorf("the answer of the cluster's API is not a list of pods: %w", err)
	}
	return page, nil
}

// forbidden says which permission the service account needs.
func (o *Options) forbidden() string {
	if o.Namespace == AllNamespaces {
		return "the service account may not list the pods of all namespaces; give it a ClusterRole with the verb list on pods, or choose one namespace"
	}
	return "the service account may not list the pods of namespace " + o.Namespace + "; give it a Role with the verb list on pods there"
}
