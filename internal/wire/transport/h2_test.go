package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// h2Server answers over HTTP/2 with prior knowledge, or over TLS with its certificate.
type h2Server struct {
	*httptest.Server
	target *Target
}

func newH2Server(t testing.TB, secret bool, most int, handle http.HandlerFunc) *h2Server {
	s := &h2Server{Server: httptest.NewUnstartedServer(handle)}
	var p http.Protocols
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	s.Config.Protocols, s.Config.ErrorLog = &p, log.New(io.Discard, "", 0)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most}
	s.EnableHTTP2 = true
	if secret {
		s.TLS = &tls.Config{NextProtos: []string{"h2"}}
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	s.target = mustTarget(t, s.URL)
	return s
}

func h2Client(t testing.TB, change func(*Options)) *Client {
	return mustClient(t, func(o *Options) {
		o.HTTP2, o.TLS.Insecure = true, true
		if change != nil {
			change(o)
		}
	})
}

func bothWays(t *testing.T, f func(t *testing.T, secret bool)) {
	t.Run("plain", func(t *testing.T) { f(t, false) })
	t.Run("TLS", func(t *testing.T) { f(t, true) })
}

func TestHTTP2(t *testing.T) {
	bothWays(t, func(t *testing.T, secret bool) {
		srv := newH2Server(t, secret, 100, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s %d %v %s\n\n", r.Proto, n, err, r.Header.Get("X-A"))
			w.(http.Flusher).Flush()
			time.Sleep(60 * time.Millisecond)
			io.WriteString(w, "data: two\n\n")
		})
		c := h2Client(t, nil)
		for i, size := range []int{0, 2, 70_000, 8 << 20, 2} {
			rec := do(c, &Request{Target: srv.target, Body: record.Plain(make([]byte, size)), Headers: []record.Header{{Name: "X-A", Value: "b"}, {Name: "Connection", Value: "close"}}})
			if rec.Error != nil {
				t.Fatalf("%d bytes: %+v", size, rec.Error)
			}
			if want := fmt.Sprintf("data: HTTP/2.0 %d <nil> b", size); len(rec.Messages) != 2 || string(rec.Messages[0].Raw) != want || string(rec.Messages[1].Raw) != "data: two" {
				t.Fatalf("messages %v, want %q first", rec.Messages, want)
			}
			if gap := longestGap(rec); gap < 15*time.Millisecond {
				t.Errorf("gap %v", gap)
			}
			tr := rec.Trace
			if (tr.Reused != 0) != (i > 0) || tr.BytesSent != size || tr.SendEnd < tr.SendStart || tr.SendEnd == 0 {
				t.Errorf("request %d: trace %+v", i, tr)
			}
			if rec.Status != 200 || rec.Ack < rec.Start || rec.End < rec.Messages[1].At {
				t.Errorf("status %d, ack %d, end %d", rec.Status, rec.Ack-rec.Start, rec.End-rec.Start)
			}
			rec.Release()
		}
		if s := c.Stats(); s.Dialled != 1 || s.OpenConns != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// Streams of one connection are distinguished, and what exceeds the server's limit gets another connection.
func TestHTTP2Multiplexes(t *testing.T) {
	bothWays(t, func(t *testing.T, secret bool) {
		const requests = 24
		var here sync.WaitGroup
		here.Add(requests)
		srv := newH2Server(t, secret, 8, func(w http.ResponseWriter, r *http.Request) {
			here.Done()
			here.Wait() // all are under way at once
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 20 {
				fmt.Fprintf(w, "data: %s %d\n\n", r.URL.Path, i)
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		})
		var warned atomic.Int32
		c := h2Client(t, func(o *Options) {
			o.Warn = func(text string) {
				if strings.Contains(text, "fewer streams") {
					warned.Add(1)
				}
			}
		})
		var all sync.WaitGroup
		for i := range requests {
			target := mustTarget(t, fmt.Sprintf("%s/%d", srv.URL, i))
			all.Go(func() {
				rec := do(c, &Request{Target: target, Body: record.Plain([]byte("{}"))})
				if rec.Error != nil || len(rec.Messages) != 20 {
					t.Errorf("%+v, %d messages", rec.Error, len(rec.Messages))
					return
				}
				for k, m := range rec.Messages {
					if want := fmt.Sprintf("data: /%d %d", i, k); string(m.Raw) != want {
						t.Errorf("message %q, want %q", m.Raw, want)
					}
				}
			})
		}
		all.Wait()
		if s := c.Stats(); s.Dialled != 3 || warned.Load() != 1 {
			t.Errorf("%d connections for 24 requests at once and 8 streams a connection, warned %d times", s.Dialled, warned.Load())
		}
	})
}

func TestHTTP2Failures(t *testing.T) {
	srv := newH2Server(t, false, 100, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/status":
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, "slow down")
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: a\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
			panic(http.ErrAbortHandler)
		case "/hang":
			<-r.Context().Done()
		case "/stall":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: a\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/done":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: [DONE]\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "{}")
		}
	})
	c := h2Client(t, func(o *Options) { o.Timeout = time.Minute })
	within := func(most time.Duration, req *Request) *record.Record {
		before := c.opt.Timeout
		c.opt.Timeout = most
		defer func() { c.opt.Timeout = before }()
		return do(c, req)
	}
	c.doneWait = int64(50 * time.Millisecond)
	at := func(path string) *Request {
		return &Request{Target: mustTarget(t, srv.URL+path), Body: record.Plain([]byte("{}"))}
	}
	rec := do(c, at("/status"))
	wantError(t, rec, "Too Many Requests", 429)
	if rec.Error.Message != "slow down" {
		t.Errorf("message %q", rec.Error.Message)
	}
	wantError(t, do(c, at("/reset")), ErrSocket, 0)
	rec = do(c, at("/cut"))
	if wantError(t, rec, ErrPayload, 0); len(rec.Messages) != 1 || !strings.Contains(rec.Error.Message, "reset the stream") {
		t.Errorf("%d messages, %+v", len(rec.Messages), rec.Error)
	}
	wantError(t, within(100*time.Millisecond, at("/hang")), ErrTimeout, 0)
	if rec = within(time.Second, at("/stall")); len(rec.Messages) != 1 {
		t.Errorf("%d messages", len(rec.Messages))
	}
	wantError(t, rec, ErrTimeout, 0)
	cut := at("/stall")
	cut.Cancel, cut.CancelAfter = true, 30*time.Millisecond
	rec = do(c, cut)
	wantError(t, rec, ErrCancelled, 499)
	ctx, stop := context.WithCancelCause(context.Background())
	time.AfterFunc(30*time.Millisecond, func() { stop(fmt.Errorf("enough")) })
	rec = new(record.Record)
	c.Do(ctx, at("/hang"), rec, nil)
	if wantError(t, rec, ErrCancelled, 499); rec.Cut != "enough" {
		t.Errorf("cut by %q", rec.Cut)
	}
	if rec = do(c, at("/done")); rec.Error != nil || len(rec.Messages) != 1 {
		t.Errorf("%+v", rec.Error)
	}
	if rec = do(c, at("/")); rec.Error != nil || string(rec.Messages[0].Raw) != "{}" || rec.Messages[0].UncertainNs > int64(time.Second) {
		t.Errorf("%+v", rec.Error)
	}
	if s := c.Stats(); s.Dialled != 1 {
		t.Errorf("failures of streams cost connections: %+v", s)
	}
}

func TestHTTP2Reuse(t *testing.T) {
	srv := newH2Server(t, false, 100, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{}")
	})
	for _, reuse := range []Reuse{Never, Sticky, Pooled} {
		c := h2Client(t, func(o *Options) { o.Reuse = reuse })
		for session := range 2 {
			for turn := range 3 {
				req := &Request{Target: srv.target, Session: fmt.Sprint(session), LastTurn: turn == 2, Body: record.Plain([]byte("{}"))}
				if rec := do(c, req); rec.Error != nil {
					t.Fatalf("%s: %+v", reuse, rec.Error)
				}
			}
		}
		want := map[Reuse][2]int{Never: {6, 0}, Sticky: {2, 0}, Pooled: {1, 1}}[reuse]
		waitFor(t, func() bool { return c.Stats().OpenConns == want[1] })
		if s := c.Stats(); int(s.Dialled) != want[0] {
			t.Errorf("%s: %+v, want %v", reuse, s, want)
		}
	}
}

func TestHTTP2NotSpoken(t *testing.T) {
	plain := newAnswers(t, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	c := h2Client(t, nil)
	rec := do(c, &Request{Target: plain.target})
	if wantError(t, rec, ErrConnect, 0); !strings.Contains(rec.Error.Message, "does not speak HTTP/2") {
		t.Errorf("%q", rec.Error.Message)
	}
	srv, _ := tlsServer(t, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	for i := range 3 {
		rec := do(c, &Request{Target: mustTarget(t, srv.URL), Body: record.Plain([]byte("{}"))})
		if rec.Error != nil || string(rec.Messages[0].Raw) != "data: HTTP/1.1" || (rec.Trace.Reused != 0) != (i > 0) {
			t.Errorf("%+v %v", rec.Error, rec.Messages)
		}
	}
}
