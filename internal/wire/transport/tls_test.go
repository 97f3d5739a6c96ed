package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// tlsServer streams two events 60 ms apart and echoes the length of the body.
func tlsServer(t *testing.T, change func(*tls.Config)) (*httptest.Server, string) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+r.Proto+"\n\n")
		w.(http.Flusher).Flush()
		time.Sleep(60 * time.Millisecond)
		if n == r.ContentLength {
			io.WriteString(w, "data: whole\n\n")
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	if change != nil {
		change(srv.TLS)
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return srv, ca
}

// longestGap is the longest time that may lie between the first two messages: a client that was delayed knows the first instant only to within this time.
func longestGap(rec *record.Record) time.Duration {
	return time.Duration(rec.Messages[1].At - rec.Messages[0].At + rec.Messages[0].UncertainNs)
}

func TestTLS(t *testing.T) {
	srv, ca := tlsServer(t, nil)
	for name, change := range map[string]func(*Options){
		"trusted root":    func(o *Options) { o.TLS.CAFile = ca },
		"no checks":       func(o *Options) { o.TLS.Insecure = true },
		"chain only":      func(o *Options) { o.TLS.CAFile, o.TLS.SkipNameVerify, o.TLS.ServerName = ca, true, "other" },
		"name of its own": func(o *Options) { o.TLS.CAFile, o.TLS.ServerName = ca, "example.com" },
	} {
		t.Run(name, func(t *testing.T) {
			c := mustClient(t, change)
			for i, size := range []int{2, 8 << 20, 2} {
				rec := do(c, &Request{Target: mustTarget(t, srv.URL), Body: record.Plain(make([]byte, size))})
				if rec.Error != nil {
					t.Fatalf("%+v", rec.Error)
				}
				if len(rec.Messages) != 2 || string(rec.Messages[0].Raw) != "data: HTTP/1.1" || string(rec.Messages[1].Raw) != "data: whole" {
					t.Fatalf("%d messages", len(rec.Messages))
				}
				if gap := longestGap(rec); gap < 15*time.Millisecond {
					t.Errorf("gap %v", gap)
				}
				if (rec.Trace.Reused != 0) != (i > 0) {
					t.Errorf("request %d reused at %d", i, rec.Trace.Reused)
				}
				rec.Release()
			}
		})
	}
}

func TestTLSFailures(t *testing.T) {
	srv, ca := tlsServer(t, nil)
	target := mustTarget(t, srv.URL)
	wantError(t, do(mustClient(t, nil), &Request{Target: target}), ErrCertificate, 0)
	wantError(t, do(mustClient(t, func(o *Options) { o.TLS.CAFile, o.TLS.ServerName = ca, "other" }), &Request{Target: target}), ErrCertificate, 0)
	plain := newAnswers(t, okAnswer)
	https := mustTarget(t, "https://"+plain.target.Address())
	short := mustClient(t, func(o *Options) { o.Timeout = 300 * time.Millisecond })
	if rec := do(short, &Request{Target: https}); rec.Error == nil || rec.Error.Type != ErrTLS && rec.Error.Type != ErrTimeout {
		t.Errorf("TLS to a plain server: %+v", rec.Error)
	}
	for _, o := range []TLS{{CAFile: "nowhere"}, {CertFile: ca}, {CertFile: ca, KeyFile: ca}} {
		opt := DefaultOptions()
		opt.TLS = o
		if _, err := NewClient(opt); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
}

func TestMutualTLS(t *testing.T) {
	srv, ca := tlsServer(t, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	target := mustTarget(t, srv.URL)
	without := mustClient(t, func(o *Options) { o.TLS.CAFile = ca })
	if rec := do(without, &Request{Target: target}); rec.Error == nil {
		t.Error("the server accepted a client without a certificate")
	}
	pair := srv.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		t.Fatal(err)
	}
	with := mustClient(t, func(o *Options) { o.TLS.CAFile, o.TLS.CertFile, o.TLS.KeyFile = ca, ca, keyFile })
	var rec record.Record
	with.Do(context.Background(), &Request{Target: target, Body: record.Plain([]byte("{}"))}, &rec, nil)
	if rec.Error != nil {
		t.Errorf("%+v", rec.Error)
	}
}

// An armed connection lies idle with the server's session tickets unread; that must not pass for a dead one.
func TestArmedTLS(t *testing.T) {
	srv, ca := tlsServer(t, nil)
	c := mustClient(t, func(o *Options) { o.TLS.CAFile = ca })
	for range 3 {
		x := c.Prepare(context.Background(), &Request{Target: mustTarget(t, srv.URL), Body: record.Plain([]byte("{}")), Armed: true})
		x.ready -= 2 * staleAfter
		x.Send()
		var rec record.Record
		x.Receive(&rec, nil)
		if rec.Error != nil || len(rec.Messages) != 2 || rec.Start < rec.Trace.ConnectEnd {
			t.Fatalf("%+v, start %d, trace %+v", rec.Error, rec.Start, rec.Trace)
		}
	}
	if s := c.Stats(); s.Dialled != 1 || s.Replaced != 0 {
		t.Errorf("stats %+v", s)
	}
	x := c.Prepare(context.Background(), &Request{Target: mustTarget(t, srv.URL), Armed: true})
	srv.CloseClientConnections()
	waitFor(t, func() bool { return !x.conn.alive() })
	x.Drop()
	if n := c.Stats().OpenConns; n != 0 {
		t.Errorf("%d connections open", n)
	}
}
