package kubeclient

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/run/kube"
)

// proxyServer is a proxy for CONNECT requests, or for SOCKS 5 without a name.
func proxyServer(t *testing.T, socks bool, used *atomic.Int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			used.Add(1)
			go serveProxy(conn, socks)
		}
	}()
	return l.Addr().String()
}

func serveProxy(conn net.Conn, socks bool) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	var target string
	if socks {
		hello, ask := make([]byte, 3), make([]byte, 10) // one method; CONNECT to an IPv4 address
		if _, err := io.ReadFull(in, hello); err != nil {
			return
		}
		_, _ = conn.Write([]byte{5, 0})
		if _, err := io.ReadFull(in, ask); err != nil {
			return
		}
		target = fmt.Sprintf("%s:%d", net.IP(ask[4:8]), int(ask[8])<<8|int(ask[9]))
		_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	} else {
		r, err := http.ReadRequest(in)
		if err != nil || r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic bWU6cHc=" {
			_, _ = io.WriteString(conn, "HTTP/1.1 407 No\r\n\r\n")
			return
		}
		target = r.Host
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	}
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, in); server.Close() }()
	_, _ = io.Copy(conn, server)
}

// TestProxy: objects and port-forwards go through the proxy of the kubeconfig.
func TestProxy(t *testing.T) {
	for _, socks := range []bool{false, true} {
		var used atomic.Int64
		at := "http://me:pw@" + proxyServer(t, false, &used)
		if socks {
			at = "socks5://" + proxyServer(t, true, &used)
		}
		p := newPlace(t, true, kubelet(""))
		forwards, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{cluster: secureAs(", proxy-url: '" + at + "'")}).content())})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := forwards.Dial(t.Context(), "p", 8080)
		if err != nil {
			t.Fatal(at, err)
		}
		got := make([]byte, 1)
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(conn, got); err != nil || got[0] != 'x' {
			t.Error(err)
		}
		conn.Close()
		q := newPlace(t, true, nil)
		o := Options{Kubeconfig: q.write(t, "config", (&kubeconfigCase{cluster: secureAs(", proxy-url: '" + at + "'")}).content())}
		_, ourError := ourList(t, o)
		ours := q.requests()
		_, theirError := theirList(t, o)
		if theirs := q.requests(); ourError != nil || theirError != nil || len(ours) != 1 || strings.Join(ours, "") == "" || used.Load() != 3 {
			t.Errorf("%s: %v %q, client-go %v %q, %d connections", at, ourError, ours, theirError, theirs, used.Load())
		}
	}
}

// TestNewCertificates: certificates that are replaced in their files are used for new requests; a half-written pair is not.
func TestNewCertificates(t *testing.T) {
	p := newPlace(t, true, nil)
	c, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: "{client-certificate: c.crt, client-key: c.key}"}).content())})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	tr := c.link.transports
	list := func() error { _, err := c.List(t.Context(), "Pod", "", ""); return err }
	put := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(p.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		tr.checked = time.Now().Add(-fileAge)
	}
	first := tr.http2
	if err := list(); err != nil || tr.http2 != first {
		t.Fatal(err)
	}
	put("ca.crt", nil)
	if err := list(); err != nil || tr.http2 != first {
		t.Error("an empty file counts:", err)
	}
	put("ca.crt", []byte("half a certificate"))
	if err := list(); err != nil || tr.http2 != first {
		t.Error("a half-written file counts:", err)
	}
	put("ca.crt", append([]byte("# the same\n"), certificates().caPEM...))
	if err := list(); err != nil || tr.http2 == first {
		t.Error("a new file does not count:", err)
	}
	put("ca.crt", certificates().certPEM)
	if err := list(); !kube.Is(err, kube.Unreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Error("a file with another certificate authority does not count:", err)
	}
}

// TestWithoutHTTP2: the variable of client-go turns HTTP/2 off.
func TestWithoutHTTP2(t *testing.T) {
	t.Setenv("DISABLE_HTTP2", "1")
	p := newPlace(t, true, nil)
	o := Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{}).content())}
	for _, list := range []func(*testing.T, Options) (string, error){ourList, theirList} {
		if _, err := list(t, o); err != nil {
			t.Fatal(err)
		}
		if r := p.requests(); len(r) != 1 || !strings.HasPrefix(r[0], "GET HTTP/1.1 ") {
			t.Error(r)
		}
	}
}
