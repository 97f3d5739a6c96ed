package kubeclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets this program be the log-in program of the kubeconfigs of the tests.
func TestMain(m *testing.M) {
	if mode := os.Getenv("TEST_PLUGIN"); mode != "" {
		os.Exit(beProgram(mode))
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets each log-in program sleep for a second at its end
	os.Exit(m.Run())
}

// beProgram prints a credential and keeps what it was asked.
func beProgram(mode string) int {
	if path := os.Getenv("TEST_PLUGIN_LOG"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 9
		}
		fmt.Fprintln(f, strings.Join(os.Args[1:], " ")+"|"+strings.TrimSpace(os.Getenv("KUBERNETES_EXEC_INFO")))
		_ = f.Close()
	}
	switch mode {
	case "hang":
		time.Sleep(time.Minute)
	case "fail":
		return 3
	case "yaml":
		fmt.Println("kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: {token: of-the-program}")
		return 0
	}
	fmt.Println(os.Getenv("TEST_PLUGIN_OUT"))
	return 0
}

// credentialText returns what a program prints.
func credentialText(version, status string) string {
	return `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/` + version + `","status":{` + status + `}}`
}

// pki has the certificates of the tests.
type pki struct {
	caPEM, certPEM, keyPEM []byte
	server                 tls.Certificate
	pool                   *x509.CertPool
}

var certificates = sync.OnceValue(func() *pki {
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return k
	}
	caKey := key()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	signed := func(template *x509.Certificate, k *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, ca, &k.PublicKey, caKey)
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	keyText := func(k *ecdsa.PrivateKey) []byte {
		der, err := x509.MarshalECPrivateKey(k)
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	}
	p := &pki{caPEM: signed(ca, caKey), pool: x509.NewCertPool()}
	p.pool.AppendCertsFromPEM(p.caPEM)
	serverKey, clientKey := key(), key()
	var err error
	p.server, err = tls.X509KeyPair(signed(&x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"api.example"}}, serverKey), keyText(serverKey))
	if err != nil {
		panic(err)
	}
	p.certPEM = signed(&x509.Certificate{SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "somebody"}, NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, clientKey)
	p.keyPEM = keyText(clientKey)
	return p
})

// place is a folder with the files that kubeconfigs name, and a server which keeps what it receives.
type place struct {
	dir    string
	server *httptest.Server

	mu   sync.Mutex
	seen []string
}

// newPlace returns a place whose server answers with a handler, by HTTPS or HTTP. nil = an empty list.
func newPlace(t *testing.T, secure bool, answer http.HandlerFunc) *place {
	t.Helper()
	p := &place{dir: t.TempDir()}
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`)
		}
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, described(r))
		p.mu.Unlock()
		answer(w, r)
	}))
	p.server.Config.ErrorLog = quiet
	if secure {
		c := certificates()
		p.server.TLS = &tls.Config{Certificates: []tls.Certificate{c.server}, ClientAuth: tls.RequestClientCert}
		p.server.EnableHTTP2 = true
		p.server.StartTLS()
	} else {
		p.server.Start()
	}
	t.Cleanup(p.server.Close)
	for name, text := range map[string][]byte{"ca.crt": certificates().caPEM, "c.crt": certificates().certPEM, "c.key": certificates().keyPEM, "token": []byte("of-the-file\n"), "bad": []byte("bad"), "empty": nil} {
		if err := os.WriteFile(filepath.Join(p.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(p.dir, "login")); err != nil {
		t.Fatal(err)
	}
	return p
}

// requests returns what the server has received since the last call.
func (p *place) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// write writes a file with placeholders: SERVER, HOST, DIR, CA, CERT and KEY (as base64).
func (p *place) write(t *testing.T, name, text string) string {
	t.Helper()
	c := certificates()
	text = strings.NewReplacer("SERVER", p.server.URL, "HOST", p.server.Listener.Addr().String(), "DIR", p.dir, "$CA", base64.StdEncoding.EncodeToString(c.caPEM),
		"$CERT", base64.StdEncoding.EncodeToString(c.certPEM), "$KEY", base64.StdEncoding.EncodeToString(c.keyPEM)).Replace(text)
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
