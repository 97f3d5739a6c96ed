package kubeclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"aiperf/internal/run/kubeconfig"
)

// config returns how to check the server and how to prove who the client is.
func (m *material) config(a *kubeconfig.Access, issued *tls.Certificate) (*tls.Config, error) {
	if len(m.ca) > 0 && a.Insecure {
		return nil, errors.New("certificate-authority and insecure-skip-tls-verify exclude each other; remove one of them")
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.ServerName, InsecureSkipVerify: a.Insecure} //nolint:gosec // the kubeconfig says so
	if len(m.ca) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(m.ca) {
			return nil, errors.New("certificate-authority has no certificate that can be used; expected PEM")
		}
		c.RootCAs = pool
	}
	if len(m.cert) > 0 {
		pair, err := tls.X509KeyPair(m.cert, m.key)
		// A pair in files may be replaced one after the other, and a server that wants no certificate needs none.
		if err != nil && (a.CertFile == "" || a.KeyFile == "") {
			return nil, fmt.Errorf("client-certificate-data: %w", err)
		}
		issued = &pair
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return issued, err }
		return c, nil
	}
	if issued != nil {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return issued, nil }
	}
	return c, nil
}
