package kubelet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"
)

// serve answers the API server: logs, port-forward and exec.
func (k *Kubelet) serve() error {
	certificate, err := selfSigned(net.IP(k.network.Gateway().AsSlice()))
	if err != nil {
		return err
	}
	s := &http.Server{
		Addr:    fmt.Sprintf("%s:%d", k.network.Gateway(), k.config.Port+5),
		Handler: k.handler(), ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:    &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // streams need HTTP/1.1
	}
	return s.ListenAndServeTLS("", "")
}

func (k *Kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLogs)
	for _, method := range []string{"GET", "POST"} {
		mux.HandleFunc(method+" /portForward/{namespace}/{pod}", k.servePortForward)
		mux.HandleFunc(method+" /exec/{namespace}/{pod}/{container}", k.serveExec)
	}
	return mux
}

// selfSigned returns a certificate for one address; the API server of a lab does not check who signed it.
func selfSigned(address net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{address}}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// requested returns the pod and container that a request names, or answers that they are not here.
func (k *Kubelet) requested(w http.ResponseWriter, r *http.Request) (*pod, *container) {
	p := k.find(r.PathValue("namespace"), r.PathValue("pod"))
	if p == nil {
		http.Error(w, fmt.Sprintf("pod %q not found", r.PathValue("pod")), http.StatusNotFound)
		return nil, nil
	}
	c := p.container(r.PathValue("container"))
	if c == nil {
		http.Error(w, fmt.Sprintf("container %q not found", r.PathValue("container")), http.StatusNotFound)
		return nil, nil
	}
	return p, c
}
