package transport

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/measure/record"
)

// proxyServer forwards requests and tunnels, and notes what it was asked for.
type proxyServer struct {
	target *Target
	asked  atomic.Value // the head of the last request
	count  atomic.Int32
}

func newProxyServer(t *testing.T, want string) *proxyServer {
	p := &proxyServer{}
	p.target = rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		head, ok := readHead(r)
		if !ok {
			return
		}
		p.asked.Store(head)
		p.count.Add(1)
		if want != "" && !strings.Contains(head, "\r\nProxy-Authorization: "+want+"\r\n") {
			io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		method, rest, _ := strings.Cut(head, " ")
		where, _, _ := strings.Cut(rest, " ")
		if method != "CONNECT" {
			io.WriteString(c, okAnswer)
			return
		}
		up, err := net.Dial("tcp", where)
		if err != nil {
			io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return
		}
		defer up.Close()
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")
		go func() {
			io.Copy(up, r)
			up.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(c, up)
	})
	return p
}

// readHead reads up to the empty line behind a head, and no further.
func readHead(r *bufio.Reader) (string, bool) {
	var b strings.Builder
	for !strings.HasSuffix(b.String(), "\r\n\r\n") {
		line, err := r.ReadString('\n')
		if b.WriteString(line); err != nil {
			return "", false
		}
	}
	return b.String(), true
}

func TestProxy(t *testing.T) {
	p := newProxyServer(t, "Basic dTpw")
	body := record.Plain([]byte("{}"))
	c := mustClient(t, func(o *Options) { o.Proxy = "http://u:p@" + p.target.Address() })
	rec := do(c, &Request{Target: mustTarget(t, "http://nowhere.invalid/x?y=1"), Body: body})
	if rec.Error != nil || rec.Trace.Host != "nowhere.invalid" {
		t.Fatalf("%+v", rec.Error)
	}
	if head := p.asked.Load().(string); !strings.HasPrefix(head, "POST http://nowhere.invalid/x?y=1 HTTP/1.1\r\nHost: nowhere.invalid\r\n") {
		t.Errorf("asked %q", head)
	}
	srv, ca := tlsServer(t, nil)
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		c := mustClient(t, func(o *Options) {
			o.Proxy, o.TLS.CAFile, o.HTTP2 = "u:p@"+p.target.Address(), ca, version == "HTTP/2.0"
		})
		rec := do(c, &Request{Target: mustTarget(t, srv.URL), Body: body})
		if rec.Error != nil || string(rec.Messages[0].Raw) != "data: "+version {
			t.Errorf("%s: %+v", version, rec.Error)
		}
		if head := p.asked.Load().(string); !strings.HasPrefix(head, "CONNECT "+strings.TrimPrefix(srv.URL, "https://")+" HTTP/1.1\r\n") {
			t.Errorf("asked %q", head)
		}
		if tr := rec.Trace; tr.ConnectEnd < tr.ConnectStart || tr.SendStart < tr.ConnectEnd {
			t.Errorf("trace %+v", tr)
		}
	}
	plain := newH2Server(t, false, 10, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
	if rec := do(mustClient(t, func(o *Options) { o.Proxy, o.HTTP2 = "u:p@"+p.target.Address(), true }), &Request{Target: plain.target}); rec.Error != nil || string(rec.Messages[0].Raw) != "HTTP/2.0" {
		t.Errorf("%+v", rec.Error)
	}
	c = mustClient(t, func(o *Options) { o.Proxy, o.TLS.CAFile = p.target.Address(), ca })
	rec = do(c, &Request{Target: mustTarget(t, srv.URL), Body: body})
	if wantError(t, rec, ErrConnect, 0); rec.Error.Message != "the proxy answered 407 Proxy Authentication Required" {
		t.Errorf("%q", rec.Error.Message)
	}
	wantError(t, do(c, &Request{Target: mustTarget(t, "http://h/")}), "Proxy Authentication Required", 407)
}

// The environment is asked only where the options say so.
func TestProxyFromTheEnvironment(t *testing.T) {
	p, direct := newProxyServer(t, ""), newAnswers(t, okAnswer)
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTP_PROXY", "http://"+p.target.Address())
	for i, c := range []struct {
		trust bool
		not   string
		want  int32 // requests that the proxy has seen then
	}{
		{false, "", 0}, {true, "", 1}, {true, "127.0.0.0/8", 1}, {true, "other,127.0.0.1", 1}, {true, "*", 1},
		{true, fmt.Sprintf("127.0.0.1:%d", direct.target.Port), 1}, {true, "127.0.0.1:1,0.0.1x", 2},
	} {
		t.Setenv("NO_PROXY", c.not)
		client := mustClient(t, func(o *Options) { o.ProxyFromEnv = c.trust })
		if rec := do(client, &Request{Target: direct.target, Body: record.Plain([]byte("{}"))}); rec.Error != nil {
			t.Errorf("case %d: %+v", i, rec.Error)
		}
		if got := p.count.Load(); got != c.want {
			t.Errorf("case %d: the proxy has seen %d requests, want %d", i, got, c.want)
		}
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("HTTP_PROXY", "socks5://h:1")
	rec := do(mustClient(t, func(o *Options) { o.ProxyFromEnv = true }), &Request{Target: direct.target})
	if wantError(t, rec, ErrConnect, 0); !strings.Contains(rec.Error.Message, `"socks5" is not supported`) {
		t.Errorf("%q", rec.Error.Message)
	}
}

func TestExemptHosts(t *testing.T) {
	for list, want := range map[string]bool{
		"": false, "*": true, "example.com": true, ".example.com": true, "EXAMPLE.com": true, "ample.com": false, "a.example.com:8000": true,
		"a.example.com:81": false, " b , a.example.com ": true, "10.0.0.0/8": false,
	} {
		if got := exempt(mustTarget(t, "http://A.example.com:8000/x"), list); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
	if !exempt(mustTarget(t, "http://[::1]:80"), "[::1]") {
		t.Error("an address in brackets is not exempt")
	}
}

func TestBadProxies(t *testing.T) {
	for raw, want := range map[string]string{"https://h:1": `"https" is not supported`, "http://": "has no host", "http://h:70000": "70000", "http://u:secret@h:x": "invalid port"} {
		opt := DefaultOptions()
		opt.Proxy = raw
		if err := opt.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "data: %s %s %s %d\n\n", r.Proto, r.Host, r.URL, n)
	})}
	var all http.Protocols
	all.SetHTTP1(true)
	all.SetUnencryptedHTTP2(true)
	srv.Protocols = &all
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	for i, c := range []struct {
		url, socket, want string
		http2             bool
	}{
		{"unix://" + path, "", "HTTP/1.1 localhost /v1/x", false},
		{"unix://" + path + ":/pre", "", "HTTP/1.1 localhost /pre/v1/x", false},
		{"http://far.away:1/pre/v1", path, "HTTP/1.1 far.away:1 /pre/v1/x", false},
		{"unix://" + path, "", "HTTP/2.0 localhost /v1/x", true},
	} {
		full, err := JoinURL(c.url, "/v1/x")
		if err != nil {
			t.Fatal(err)
		}
		client := mustClient(t, func(o *Options) { o.Socket, o.HTTP2 = c.socket, c.http2 })
		for range 2 {
			rec := do(client, &Request{Target: mustTarget(t, full), Body: record.Plain(make([]byte, 100_000))})
			if rec.Error != nil || string(rec.Messages[0].Raw) != "data: "+c.want+" 100000" {
				t.Fatalf("case %d: %+v, %v", i, rec.Error, rec.Messages)
			}
			if tr := rec.Trace; tr.DNSStart != 0 || tr.Reused == 0 && (tr.ConnectStart == 0 || tr.ConnectEnd < tr.ConnectStart) {
				t.Errorf("case %d: trace %+v", i, tr)
			}
		}
		if n := client.Stats().Dialled; n != 1 {
			t.Errorf("case %d: %d connections", i, n)
		}
	}
	wantError(t, do(mustClient(t, nil), &Request{Target: mustTarget(t, "unix:///no/such.sock")}), ErrConnect, 0)
	for _, bad := range []string{"unix://", "unix://x", "unix:///" + strings.Repeat("a", 200), "unix:///a b"} {
		if _, err := NewTarget(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
