package transport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

func TestEarlyAnswerStopsTheBody(t *testing.T) {
	over := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		c.SetReadBuffer(4096)
		r.ReadString('\n')
		io.WriteString(c, "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 7\r\n\r\ntoo big")
		<-over // the body is not read
	})
	defer close(over)
	c := mustClient(t, nil)
	rec := do(c, &Request{Target: target, Body: record.Plain(bytes.Repeat([]byte("x"), 24<<20))})
	wantError(t, rec, "Payload Too Large", 413)
	if rec.Error.Message != "too big" || rec.Trace.SendEnd != 0 || c.Stats().OpenConns != 0 {
		t.Errorf("message %q, send end %d, open %d", rec.Error.Message, rec.Trace.SendEnd, c.Stats().OpenConns)
	}
}

func TestBigBodyArrivesWhole(t *testing.T) {
	got := make(chan int, 2)
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			n := 0
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				fmt.Sscanf(line, "Content-Length: %d", &n)
				if line == "\r\n" {
					break
				}
			}
			m, _ := io.CopyN(io.Discard, r, int64(n))
			got <- int(m)
			io.WriteString(c, okAnswer)
		}
	})
	c := mustClient(t, nil)
	for i := range 2 {
		rec := do(c, &Request{Target: target, Body: record.Plain(make([]byte, 12<<20))})
		if n := <-got; rec.Error != nil || n != 12<<20 || rec.Trace.BytesSent != n || (rec.Trace.Reused != 0) != (i == 1) {
			t.Fatalf("error %v, %d bytes, trace %+v", rec.Error, n, rec.Trace)
		}
	}
}

func TestCancellation(t *testing.T) {
	slow := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n")
		r.ReadByte()
	})
	c := mustClient(t, nil)
	rec := do(c, &Request{Target: slow, Cancel: true, CancelAfter: time.Second})
	wantError(t, rec, ErrCancelled, 499)
	if rec.Error.Message != "Request cancelled 1.000s after being sent" || !rec.WasCancelled() || len(rec.Messages) != 1 {
		t.Errorf("record %+v", rec)
	}
	if after := rec.CancelledAt - rec.Trace.SendEnd; after < int64(time.Second) {
		t.Errorf("cut after %v", time.Duration(after))
	}
	rec = do(c, &Request{Target: slow, Cancel: true})
	wantError(t, rec, ErrCancelled, 499)
	fast := newAnswers(t, okAnswer)
	if rec := do(c, &Request{Target: fast.target, Cancel: true, CancelAfter: time.Minute}); rec.Error != nil || rec.WasCancelled() {
		t.Errorf("answered before the cut: %+v", rec.Error)
	}
}

func TestCancelledRequestThatCannotBeSent(t *testing.T) {
	over := make(chan struct{})
	target := rawServer(t, func(*net.TCPConn, *bufio.Reader) { <-over }) // nothing is read
	defer close(over)
	c := mustClient(t, func(o *Options) { o.Timeout, o.SendTimeout = 0, 100*time.Millisecond })
	rec := do(c, &Request{Target: target, Body: record.Plain(make([]byte, 24<<20)), Cancel: true})
	wantError(t, rec, ErrSendTimeout, 0)
}

func TestContextEndsARequestAnywhere(t *testing.T) {
	hang := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n")
		r.ReadByte()
	})
	ctx, cancel := context.WithCancel(context.Background())
	c := mustClient(t, nil)
	var rec record.Record
	c.Do(ctx, &Request{Target: hang}, &rec, func([]record.Message) *record.Error { cancel(); return nil })
	wantError(t, &rec, ErrCancelled, 499)
	if rec.Error.Message != "Request cancelled by external signal" || rec.CancelledAt == 0 || rec.Cut == "" || len(rec.Messages) != 1 {
		t.Errorf("record %+v, error %+v", rec, rec.Error)
	}
	rec = record.Record{}
	c.Do(ctx, &Request{Target: hang}, &rec, nil) // before the connection
	wantError(t, &rec, ErrCancelled, 499)
	if c.Stats().OpenConns != 0 {
		t.Errorf("%d connections open", c.Stats().OpenConns)
	}
}

func TestConnectFailures(t *testing.T) {
	c := mustClient(t, nil)
	wantError(t, do(c, &Request{Target: mustTarget(t, "127.0.0.1:1")}), ErrConnect, 0)
	c.opt.Timeout = time.Second
	rec := do(c, &Request{Target: mustTarget(t, "http://does-not-exist.invalid/")})
	if rec.Error == nil || rec.Error.Type != ErrDNS && rec.Error.Type != ErrTimeout {
		t.Errorf("unknown host: %+v", rec.Error)
	}
	if c.Stats().OpenConns != 0 {
		t.Errorf("%d connections are still counted", c.Stats().OpenConns)
	}
}

func TestNamesAreLookedUpOnce(t *testing.T) {
	a := newAnswers(t, okAnswer)
	c := mustClient(t, func(o *Options) { o.Reuse = Never })
	target := mustTarget(t, fmt.Sprintf("http://localhost:%d/", a.target.Port))
	first, second := do(c, &Request{Target: target}), do(c, &Request{Target: target})
	if first.Error != nil || second.Error != nil {
		t.Fatal(first.Error, second.Error)
	}
	if first.Trace.DNSEnd == 0 || first.Trace.DNSCacheHit != 0 || second.Trace.DNSEnd != 0 || second.Trace.DNSCacheHit == 0 {
		t.Errorf("first %+v\nsecond %+v", first.Trace, second.Trace)
	}
}

func TestOpenConnectionAfterTheEndMark(t *testing.T) {
	release := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\ndata: [DONE]\n\n")
		<-release
	})
	c := mustClient(t, nil)
	c.doneWait = int64(50 * time.Millisecond)
	rec := do(c, &Request{Target: target})
	close(release)
	if rec.Error != nil || len(rec.Messages) != 2 || rec.End != rec.Messages[1].At {
		t.Errorf("error %v, %d messages, end %d", rec.Error, len(rec.Messages), rec.End)
	}
}
