package kubeclient

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/run/kubeconfig"
)

// fileAge is how long certificates of files are used before the files are looked at again.
const fileAge = time.Minute

// transports are the connections to the API server. New certificates get new connections; requests that run keep theirs.
type transports struct {
	access *kubeconfig.Access

	mu      sync.Mutex
	checked time.Time
	now     material
	issued  *tls.Certificate // of a program
	http2   *http.Transport  // for objects and output
	http1   *http.Transport  // for upgrades to another protocol, which HTTP/2 does not have
}

func newTransports(a *kubeconfig.Access) (*transports, error) {
	t := &transports{access: a, checked: time.Now()}
	m, err := readMaterial(a)
	if err != nil {
		return nil, err
	}
	return t, t.replace(m, nil)
}

// objects returns the connections for objects and output.
func (t *transports) objects(c *credential) *http.Transport {
	t.refresh(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.http2
}

// upgrades returns the connections for upgrades. An HTTP proxy in front of a server without TLS must pass upgrades on: net/http asks it for a tunnel only for
// HTTPS, while client-go did so for both.
func (t *transports) upgrades(c *credential) *http.Transport {
	t.refresh(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.http1
}

func (t *transports) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.http2.CloseIdleConnections()
	t.http1.CloseIdleConnections()
}

// refresh makes new connections if certificates have changed. Files that cannot be read or used now do not count: they may be half-written.
func (t *transports) refresh(c *credential) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.now
	if time.Since(t.checked) >= fileAge {
		t.checked = time.Now()
		if read, err := readMaterial(t.access); err == nil {
			m = read
		}
	}
	if m.equal(&t.now) && c.cert == t.issued {
		return
	}
	before2, before1 := t.http2, t.http1
	if t.replace(m, c.cert) == nil {
		before2.CloseIdleConnections()
		before1.CloseIdleConnections()
	}
}

// replace makes the connections for certificates.
func (t *transports) replace(m material, issued *tls.Certificate) error {
	config, err := m.config(t.access, issued)
	if err != nil {
		return err
	}
	t.now, t.issued = m, issued
	t.http1, t.http2 = t.transport(config), t.transport(config.Clone())
	for _, one := range []*http.Transport{t.http1, t.http2} {
		if one == t.http1 || os.Getenv("DISABLE_HTTP2") != "" {
			one.Protocols = onlyHTTP1()
			continue
		}
		one.ForceAttemptHTTP2 = true
		// A connection whose other end is gone without a word is found by pings. The variables are those of client-go.
		one.HTTP2 = &http.HTTP2Config{SendPingTimeout: seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", 30), PingTimeout: seconds("HTTP2_PING_TIMEOUT_SECONDS", 15)}
	}
	return nil
}

// transport returns connections without a protocol. A proxy of the kubeconfig wins over those of the environment.
func (t *transports) transport(config *tls.Config) *http.Transport {
	proxy := http.ProxyFromEnvironment
	if t.access.Proxy != nil {
		proxy = http.ProxyURL(t.access.Proxy)
	}
	return &http.Transport{
		Proxy: proxy, DialContext: (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second, DisableCompression: t.access.NoCompression,
	}
}

func onlyHTTP1() *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(true)
	return p
}

// seconds returns the value of a variable.
func seconds(variable string, otherwise int) time.Duration {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		otherwise = n
	}
	return time.Duration(otherwise) * time.Second
}

// material is the text of the certificates of a kubeconfig.
type material struct{ ca, cert, key []byte }

func readMaterial(a *kubeconfig.Access) (m material, err error) {
	for _, one := range []struct {
		into *[]byte
		data []byte
		file string
	}{{&m.ca, a.CA, a.CAFile}, {&m.cert, a.Cert, a.CertFile}, {&m.key, a.Key, a.KeyFile}} {
		if *one.into = one.data; len(one.data) == 0 && one.file != "" {
			if *one.into, err = os.ReadFile(one.file); err != nil {
				return m, err
			}
		}
	}
	if a.CAFile != "" && len(m.ca) == 0 {
		return m, errors.New("certificate-authority " + a.CAFile + " is empty")
	}
	return m, nil
}

func (m *material) equal(other *material) bool {
	return bytes.Equal(m.ca, other.ca) && bytes.Equal(m.cert, other.cert) && bytes.Equal(m.key, other.key)
}
