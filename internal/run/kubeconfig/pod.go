package kubeconfig

import (
	"cmp"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// inPod reports whether this is a pod with a service account.
func (p *Places) inPod() bool {
	info, err := os.Stat(filepath.Join(p.ServiceAccount, "token"))
	return p.Getenv("KUBERNETES_SERVICE_HOST") != "" && p.Getenv("KUBERNETES_SERVICE_PORT") != "" && err == nil && !info.IsDir()
}

// pod returns the cluster of this pod.
func (p *Places) pod(namespace string) (*Access, error) {
	a := &Access{
		URL:       &url.URL{Scheme: "https", Host: net.JoinHostPort(p.Getenv("KUBERNETES_SERVICE_HOST"), p.Getenv("KUBERNETES_SERVICE_PORT"))},
		Namespace: cmp.Or(namespace, p.podNamespace()),
		TokenFile: filepath.Join(p.ServiceAccount, "token"),
	}
	// Without a file of usable certificates, those of the system count.
	ca := filepath.Join(p.ServiceAccount, "ca.crt")
	if text, err := os.ReadFile(ca); err == nil && x509.NewCertPool().AppendCertsFromPEM(text) {
		a.CAFile = ca
	}
	return a, nil
}

// podNamespace returns the namespace of this pod, or "default".
func (p *Places) podNamespace() string {
	if !p.inPod() {
		return "default"
	}
	name := p.Getenv("POD_NAMESPACE")
	if name == "" {
		text, _ := os.ReadFile(filepath.Join(p.ServiceAccount, "namespace"))
		name = strings.TrimSpace(string(text))
	}
	return cmp.Or(name, "default")
}
