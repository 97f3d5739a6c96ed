package exec

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// connectionCases are the rows of section 16.2 that the tests below settle, with TestConformanceOfRequestHeads and
// TestConformanceOfRecords.
var connectionCases = []string{"H06", "H17", "H18", "H21", "H22", "H24", "H33", "H37", "H37a", "H37b", "H38", "H39", "H40", "H41", "H42", "H43", "H44", "H45",
	"H46", "H46a", "H47", "H48", "H49", "H50", "H51", "H52", "H54", "H55"}

// H17, H18, H21: no connection.
func TestConformanceWithoutConnection(t *testing.T) {
	t.Parallel()
	ask(t, "http://127.0.0.1:1", asked{}).is(t, "H17", transport.ErrConnect, "")
	ask(t, "http://no-such-host.invalid", asked{}).is(t, "H18", transport.ErrDNS, "")
	g := ask(t, "http://192.0.2.1", impatient) // TEST-NET-1: nobody accepts; a network without a route says so at once
	if e := g.failure; e == nil || e.Type != transport.ErrTimeout && e.Type != transport.ErrConnect || g.Trace.ConnectStart == 0 {
		t.Errorf("H21: %+v, %+v", e, g.Trace)
	}
}

// H22, H37a, H37b: connections that are used again, or must not be.
func TestConformanceOfUsedConnections(t *testing.T) {
	t.Parallel()
	answer := measured(jsonHead, document)
	more := make(chan struct{}, 2)
	for _, c := range []struct {
		id      string
		script  func(p *player)
		outcome string
		conns   int
		between func(s *played)
	}{
		{"H22", func(p *player) { // idle close: dialled again
			p.request()
			p.say(answer)
		}, "ok", 2, func(s *played) { <-s.ended }},
		{"H22", func(p *player) { // closed after the second request was read: one failure
			p.request()
			p.say(answer)
			p.request()
		}, transport.ErrClosed, 1, func(*played) {}},
		{"H37a", func(p *player) {
			for p.request() {
				p.say(answer + "more")
			}
		}, "ok", 2, func(*played) {}},
		{"H37a", func(p *player) {
			for p.request() {
				p.say(jsonHead + "Transfer-Encoding: chunked\r\n\r\n" + chunks(document) + lastPart)
				p.say("more")
				more <- struct{}{}
			}
		}, "ok", 2, func(*played) { <-more }},
	} {
		s := play(t, c.script)
		g := ask(t, s.url, asked{whole: true, turns: 2, between: func() { c.between(s) }})
		if c.outcome == "ok" {
			g.is(t, c.id, "ok", "", "a")
		} else {
			g.is(t, c.id, c.outcome, "")
		}
		if first := g.all[0]; first.Error != nil {
			t.Errorf("%s: the first request failed: %+v", c.id, first.Error)
		}
		if s.connections() != c.conns || len(s.headsSeen()) != 2 {
			t.Errorf("%s: %d connections, %d requests; want %d and 2", c.id, s.connections(), len(s.headsSeen()), c.conns)
		}
	}
}

// H37b: a server that closes within 1 ms of its answer, unannounced, fails no request. Where the machine keeps it from closing so soon, it is tried
// again.
func TestConformanceOfQuickCloses(t *testing.T) {
	t.Parallel()
	for range 10 {
		s := play(t, func(p *player) {
			p.request()
			p.say(measured(jsonHead, document))
		})
		if g := ask(t, s.url, asked{whole: true, turns: 2}); g.failure == nil && g.all[0].Error == nil && s.connections() == 2 {
			return
		}
	}
	t.Error("H37b: ten pairs of requests failed")
}

// H24, H33, H37: answers in parts.
func TestConformanceOfPacedAnswers(t *testing.T) {
	t.Parallel()
	const gap = 30 * time.Millisecond
	s := play(t, func(p *player) {
		p.request()
		parts := zipped(expand("data: D(a)⏎⏎")[0], expand("data: D(b)⏎⏎")[0])
		p.pace(gap, eventHead+"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks(parts[0]), chunks(parts[1])+lastPart)
	})
	g := ask(t, s.url, asked{})
	if g.is(t, "H24", "ok", "", "a", "b"); len(g.reply.Contents) == 2 && apart(g) < gap*3/4 {
		t.Error("H24: messages were not timed separately")
	}
	s = play(t, func(p *player) {
		p.in.ReadString('\n')
		p.say(status("413 Content Too Large", "too large"))
		p.in.Discard(1 << 20)
	})
	big := asked{headers: transport.HeaderSet{}, extras: []endpoint.Member{{Key: "x", Value: []byte(`"` + strings.Repeat("x", 32<<20) + `"`)}}}
	if g := ask(t, s.url, big); g.failure == nil || g.failure.Code != 413 || g.stats.OpenConns != 0 {
		t.Errorf("H33: %+v, %+v", g.failure, g.stats)
	}
	// H37: the time of a server that answers late is the request's. It was read between the start and the answer, by the server's own clock.
	var read atomic.Int64
	s = play(t, func(p *player) {
		p.request()
		read.Store(clock.Now())
		p.say(measured(jsonHead, document))
	})
	g = ask(t, s.url, inOnePiece)
	if early := s.writes()[0] - g.Trace.FirstChunk; early > 0 || g.Start > read.Load() {
		t.Errorf("H37: %v before it was written, started %v after it was read", time.Duration(early), time.Duration(g.Start-read.Load()))
	}
}

// apart is the longest time that may lie between the first two messages: a client that was delayed knows the first instant only to within this time.
func apart(g *got) time.Duration {
	return time.Duration(g.Messages[1].At - g.Messages[0].At + g.Messages[0].UncertainNs)
}

// serves answers every request with the document, and counts connections.
func serves(t *testing.T, fail func(n int) bool) *played {
	var mu sync.Mutex
	n := 0
	return play(t, func(p *player) {
		for p.request() {
			mu.Lock()
			n++
			bad := fail != nil && fail(n)
			mu.Unlock()
			if bad {
				p.say(status("500 Internal Server Error", "bad"))
				continue
			}
			p.say(measured(jsonHead, document))
		}
	})
}

// H45 to H49: how requests share connections.
func TestConformanceOfReuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id              string
		reuse           transport.Reuse
		turns, sessions int
		fail            func(n int) bool
		conns           int
	}{
		{"H45", transport.Never, 1, 10, nil, 10}, {"H46", transport.Pooled, 1, 10, nil, 1}, {"H47", transport.Sticky, 3, 2, nil, 2},
		{"H48", transport.Sticky, 3, 1, func(n int) bool { return n == 2 }, 2},
	} {
		s := serves(t, c.fail)
		q := newAsker(t, s.url, asked{whole: true, turns: c.turns, options: func(o *transport.Options) { o.Reuse = c.reuse }})
		reused := 0
		for range c.sessions {
			for _, rec := range q.ask(t).all {
				if rec.Trace.Reused != 0 {
					reused++
				}
			}
		}
		if s.connections() != c.conns || reused != c.turns*c.sessions-c.conns {
			t.Errorf("%s: %d connections, %d requests on used ones; want %d and %d", c.id, s.connections(), reused, c.conns, c.turns*c.sessions-c.conns)
		}
		if c.id == "H45" && !slices.Contains(s.headsSeen()[0], "Connection: close") {
			t.Errorf("H45: head %q", s.headsSeen()[0])
		}
		if c.id == "H47" && q.client.Stats().OpenConns != 0 {
			t.Errorf("H47: %d connections are open behind the last turns", q.client.Stats().OpenConns)
		}
	}
}

// H50, H51, H52: cancellation.
func TestConformanceOfCancellation(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct {
		after, answer time.Duration
		outcome       string
	}{"H50": {time.Minute, 20 * time.Millisecond, "ok"}, "H51": {100 * time.Millisecond, 20 * time.Second, "499 RequestCancellationError"}} {
		closed := make(chan bool, 1)
		s := play(t, func(p *player) {
			p.request()
			select {
			case <-time.After(c.answer):
				p.say(measured(jsonHead, document))
				closed <- false
			case <-ended(p.in):
				closed <- true
			}
		})
		g := ask(t, s.url, asked{whole: true, cancel: c.after})
		if c.outcome == "ok" {
			g.is(t, id, "ok", "", "a")
			continue
		}
		if g.is(t, id, c.outcome, "0.100s"); !<-closed || g.CancelledAt-g.Trace.SendEnd < int64(c.after) {
			t.Errorf("%s: cancelled %v after it was sent", id, time.Duration(g.CancelledAt-g.Trace.SendEnd))
		}
	}
	// H52: connecting, here a TLS handshake that lasts until another request has been cancelled after the same delay, does not eat the delay.
	const delay = 100 * time.Millisecond
	mute := play(t, func(p *player) { p.request(); p.gone() })
	other := newAsker(t, mute.url, asked{whole: true, cancel: delay})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	srv.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { other.ask(t); return nil, nil }}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	g := ask(t, srv.URL, asked{cancel: delay, options: func(o *transport.Options) { o.TLS.Insecure = true }})
	if g.is(t, "H52", "499 RequestCancellationError", "0.100s"); g.CancelledAt-g.Trace.SendEnd < int64(delay) || g.Trace.ConnectEnd-g.Trace.ConnectStart < int64(delay) {
		t.Errorf("H52: cancelled %v after it was sent, connected in %v", time.Duration(g.CancelledAt-g.Trace.SendEnd), time.Duration(g.Trace.ConnectEnd-g.Trace.ConnectStart))
	}
}

// ended tells when a client closes its connection.
func ended(in *bufio.Reader) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		_, _ = in.ReadByte()
		close(over)
	}()
	return over
}

// H41: proxies of the environment only where the options say so. It sets the environment and so is not parallel.
func TestConformanceOfProxies(t *testing.T) {
	proxy, server := serves(t, nil), serves(t, nil)
	for _, name := range []string{"http_proxy", "no_proxy", "NO_PROXY", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTP_PROXY", proxy.url)
	ask(t, server.url, inOnePiece).is(t, "H41", "ok", "", "a")
	if proxy.connections() != 0 {
		t.Error("H41: the proxy was asked although nobody wants it")
	}
	ask(t, server.url, asked{whole: true, options: func(o *transport.Options) { o.ProxyFromEnv = true }}).is(t, "H41", "ok", "", "a")
	if proxy.connections() != 1 || server.connections() != 1 || !strings.HasPrefix(proxy.headsSeen()[0][0], "POST "+server.url+"/v1/chat/completions HTTP/1.1") {
		t.Errorf("H41: %q went to the proxy, %d connections to the server", proxy.headsSeen(), server.connections())
	}
}

// H42, H43, H44, H54, H55: TLS, Unix sockets, HTTP/2.
func TestConformanceOfProtocols(t *testing.T) {
	t.Parallel()
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, strings.Replace(document, `"a"`, `"`+r.Proto+`"`, 1))
	})
	start := func(change func(s *httptest.Server)) (s *httptest.Server, ca string) {
		s = httptest.NewUnstartedServer(tell)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		change(s)
		s.StartTLS()
		t.Cleanup(s.Close)
		ca = filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		return s, ca
	}
	with := func(change func(o *transport.Options)) asked { return asked{whole: true, options: change} }
	s, ca := start(func(s *httptest.Server) { s.EnableHTTP2 = true })
	ask(t, s.URL, inOnePiece).is(t, "H42", transport.ErrCertificate, "")
	ask(t, s.URL, with(func(o *transport.Options) { o.TLS.Insecure = true })).is(t, "H42", "ok", "", "HTTP/1.1")
	ask(t, s.URL, with(func(o *transport.Options) { o.TLS.CAFile = ca })).is(t, "H43", "ok", "", "HTTP/1.1")
	ask(t, s.URL, with(func(o *transport.Options) { o.TLS.CAFile, o.HTTP2 = ca, true })).is(t, "H55", "ok", "", "HTTP/2.0")
	s, ca = start(func(s *httptest.Server) { s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert} })
	if g := ask(t, s.URL, with(func(o *transport.Options) { o.TLS.CAFile = ca })); g.failure == nil {
		t.Error("H44: the server took a client without a certificate")
	}
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, s.URL, with(func(o *transport.Options) { o.TLS.CAFile, o.TLS.CertFile, o.TLS.KeyFile = ca, ca, keyFile })).is(t, "H44", "ok", "", "HTTP/1.1")

	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all http.Protocols
	all.SetHTTP1(true)
	all.SetUnencryptedHTTP2(true)
	local := &http.Server{Handler: tell, Protocols: &all}
	go local.Serve(l)
	t.Cleanup(func() { local.Close() })
	g := ask(t, "unix://"+path, inOnePiece)
	if g.is(t, "H54", "ok", "", "HTTP/1.1"); g.Trace.DNSStart != 0 || g.Trace.ConnectStart == 0 {
		t.Errorf("H54: %+v", g.Trace)
	}
	plain := httptest.NewUnstartedServer(tell)
	plain.Config.Protocols = &all
	plain.Start()
	t.Cleanup(plain.Close)
	g = ask(t, plain.URL, asked{whole: true, turns: 5, options: func(o *transport.Options) { o.HTTP2 = true }})
	if g.is(t, "H55", "ok", "", "HTTP/2.0"); g.stats.Dialled != 1 {
		t.Errorf("H55: %d connections", g.stats.Dialled)
	}
}

// U14: credentials in a URL.
func TestConformanceOfCredentials(t *testing.T) {
	t.Parallel()
	s := serves(t, nil)
	g := ask(t, strings.Replace(s.url, "http://", "http://u:p@", 1), inOnePiece)
	g.is(t, "U14", "ok", "", "a")
	if head := s.headsSeen()[0]; head[len(head)-2] != "Authorization: Basic dTpw" {
		t.Errorf("U14: sent %q", head)
	}
	s = serves(t, nil)
	ask(t, strings.Replace(s.url, "http://", "http://u:p@", 1), asked{whole: true, headers: transport.HeaderSet{APIKey: "k"}}).is(t, "U14", "ok", "", "a")
	if text := strings.Join(s.headsSeen()[0], "\n"); !strings.Contains(text, "Authorization: Bearer k") || strings.Contains(text, "Basic") {
		t.Errorf("U14: sent %q", text)
	}
}
