// Package kubeconfig finds out which cluster to use and how to log in to it: from kubeconfig files, or in a pod from its service account. The rules are those of
// kubectl; a test compares them with client-go. Differences are explained where they are.
package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"aiperf/internal/base/terminal"
)

// Options say which cluster to use.
type Options struct {
	Path      string // file; "" = the usual places
	Context   string // of the file; "" = the current one
	Namespace string // "" = that of the context
}

// Places are where kubeconfig files and the service account of a pod are found.
type Places struct {
	Getenv         func(string) string
	ServiceAccount string // folder of its token
}

// System returns the places of this computer.
func System() *Places {
	return &Places{Getenv: os.Getenv, ServiceAccount: "/var/run/secrets/kubernetes.io/serviceaccount"}
}

// Access says how to reach a cluster and how to log in. It has no credentials if the server is not reached by HTTPS.
type Access struct {
	URL           *url.URL // of the API server; its path is a prefix of all paths
	Namespace     string
	Proxy         *url.URL // nil = as the environment says
	NoCompression bool

	Insecure   bool   // any certificate of the server is accepted
	ServerName string // in the certificate of the server; "" = the host of the URL
	CA         []byte // PEM; certificates that sign that of the server
	CAFile     string // the same as a file, if CA is empty

	Cert, Key         []byte // PEM of the client; nil = the files
	CertFile, KeyFile string

	Token, TokenFile   string // the content of the file wins
	Username, Password string
	Plugin             *Plugin
	As                 Impersonation
}

// Impersonation is the account as which requests are made.
type Impersonation struct {
	User, UID string
	Groups    []string
	Extra     map[string][]string
}

// ErrNoCluster means that no file names a cluster, and that this is not a pod with a service account.
var ErrNoCluster = errors.New("no cluster is known: set KUBECONFIG, or log in to a cluster so that kubectl works")

// Load returns the cluster that a kubeconfig names, or that of the pod if there is no kubeconfig.
func (p *Places) Load(o Options) (*Access, error) {
	all, err := p.load(o.Path)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.Context, all.current)
	in, ok := all.contexts[name]
	if name != "" && !ok {
		return nil, noSuch("context", name, all.contexts)
	}
	server, ok := all.clusters[in.Cluster]
	switch {
	case !ok && in.Cluster != "":
		// client-go continues with the cluster around the pod, if it is in one. That is not the cluster which the context names.
		return nil, fmt.Errorf("context %q: %w", name, noSuch("cluster", in.Cluster, all.clusters))
	case !ok && p.inPod():
		return p.pod(o.Namespace)
	case !ok:
		return nil, ErrNoCluster
	}
	who := all.users[in.User]
	if err := joined([]error{who.check(in.User), server.check(in.Cluster)}); err != nil {
		return nil, err
	}
	a, err := server.access()
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", in.Cluster, err)
	}
	a.Namespace = cmp.Or(o.Namespace, in.Namespace, p.podNamespace())
	a.As = Impersonation{User: who.As, UID: who.AsUID, Groups: who.AsGroups, Extra: who.AsExtra}
	if a.URL.Scheme != "https" {
		return a, nil
	}
	if _, ok := all.users[in.User]; !ok && in.User != "" {
		// client-go sends requests without credentials. The answer would be that "system:anonymous" may not do this, which does not say what is wrong.
		return nil, fmt.Errorf("context %q: %w", name, noSuch("user", in.User, all.users))
	}
	server.secure(a)
	if err := who.logIn(a, &server); err != nil {
		return nil, fmt.Errorf("user %q: %w", in.User, err)
	}
	return a, nil
}

// access returns how to reach a cluster.
func (c *cluster) access() (*Access, error) {
	u, err := serverURL(c.Server)
	if err != nil {
		return nil, err
	}
	a := &Access{URL: u, NoCompression: c.NoCompression}
	if c.Proxy != "" {
		a.Proxy, err = proxyURL(c.Proxy)
	}
	return a, err
}

// secure adds how the server proves who it is.
func (c *cluster) secure(a *Access) {
	a.Insecure, a.ServerName, a.CA, a.CAFile = c.Insecure, c.ServerName, c.CA, c.CAFile
}

// serverURL returns the URL of an API server. Without a scheme it is http, and no path is allowed then.
func serverURL(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" || u.Host == "" {
		if strings.Contains(server, "://") {
			return nil, errors.New("its server is not a URL") // the value may have a password
		}
		if u, err = url.Parse("http://" + server); err != nil {
			return nil, errors.New("its server is not a URL")
		}
		if u.Path != "" && u.Path != "/" {
			return nil, errors.New("its server has a path but no scheme; write https:// before it")
		}
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// proxyURL returns the URL of a proxy.
func proxyURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("proxy-url is not a URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return u, nil
	}
	return nil, fmt.Errorf("proxy-url has the scheme %q; allowed are http, https and socks5", u.Scheme)
}

// logIn adds the credentials of a user.
func (u *user) logIn(a *Access, c *cluster) error {
	if u.AuthProvider != nil {
		return fmt.Errorf("auth-provider %q is not supported, and Kubernetes has removed it; log in with a program of the provider that writes an exec entry instead, such as kubelogin or gke-gcloud-auth-plugin", u.AuthProvider.Name)
	}
	a.Token, a.TokenFile, a.Username, a.Password = u.Token, u.TokenFile, u.Username, u.Password
	if u.CertFile != "" || len(u.Cert) > 0 {
		a.CertFile, a.Cert, a.KeyFile, a.Key = u.CertFile, u.Cert, u.KeyFile, u.Key
	}
	if u.Username != "" && u.TokenFile != "" {
		return errors.New("username and tokenFile exclude each other; remove one of them")
	}
	if u.Exec == nil {
		return nil
	}
	p, err := u.Exec.resolve(a, c)
	// Other credentials win: then the program is not run.
	if err == nil && u.Token == "" && u.TokenFile == "" && u.Username == "" && a.CertFile == "" && len(a.Cert) == 0 {
		a.Plugin = p
	}
	return err
}

// clean removes control characters from a text for the terminal.
func clean(text string) string { return terminal.Text(text) }
