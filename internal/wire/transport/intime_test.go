package transport

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// lateClient starts a server that answers with two events at once, or after a time, and a client of it.
func lateClient(t *testing.T, http2, secret bool, after time.Duration) (c *Client, target *Target, answered chan struct{}) {
	answered = make(chan struct{}, 16)
	handle := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(after)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("data: a\n\n"))
		w.(http.Flusher).Flush()
		w.Write([]byte("data: b\n\ndata: [DONE]\n\n"))
		w.(http.Flusher).Flush()
		answered <- struct{}{}
	}
	c = mustClient(t, func(o *Options) { o.Timeout, o.TLS.Insecure, o.HTTP2 = 100*time.Millisecond, true, http2 })
	return c, newTestServer(t, http2, secret, handle), answered
}

// newTestServer starts a server of a protocol.
func newTestServer(t *testing.T, http2, secret bool, handle http.HandlerFunc) *Target {
	if http2 {
		return newH2Server(t, secret, 0, handle).target
	}
	s := httptest.NewUnstartedServer(handle)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secret {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return mustTarget(t, s.URL)
}

// everyProtocol runs a test with HTTP/1.1 and HTTP/2, plain and over TLS.
func everyProtocol(t *testing.T, f func(t *testing.T, http2, secret bool)) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) { bothWays(t, func(t *testing.T, secret bool) { f(t, http2, secret) }) })
	}
}

// TestAnswerThatArrivedInTime: a client that was stopped comes late to read an answer. It counts if it arrived before the request was to be given up.
func TestAnswerThatArrivedInTime(t *testing.T) {
	everyProtocol(t, func(t *testing.T, http2, secret bool) {
		c, target, answered := lateClient(t, http2, secret, 0)
		for name, request := range map[string]*Request{"timeout": {Target: target}, "cancelled": {Target: target, Cancel: true, CancelAfter: 50 * time.Millisecond}, "end of the run": {Target: target}} {
			ctx, cut := context.WithCancelCause(t.Context())
			request.Armed = true
			x := c.Prepare(ctx, request)
			x.Send()
			<-answered
			if name == "end of the run" {
				time.Sleep(10 * time.Millisecond)
				cut(errors.New("it is over"))
			} else {
				time.Sleep(150 * time.Millisecond)
			}
			rec := new(record.Record)
			x.Receive(rec, nil)
			if rec.Error != nil || len(rec.Messages) != 3 || time.Duration(rec.Messages[1].At-rec.Messages[1].UncertainNs-rec.Start) > 50*time.Millisecond {
				t.Errorf("%s: %+v, %d messages", name, rec.Error, len(rec.Messages))
			}
			cut(nil)
		}
	})
}

// TestAnswerThatArrivedTooLate: an answer that arrived after the request was to be given up does not count, whenever the client reads it. The request did
// not wait for it longer than until its arrival.
func TestAnswerThatArrivedTooLate(t *testing.T) {
	everyProtocol(t, func(t *testing.T, http2, secret bool) {
		c, target, answered := lateClient(t, http2, secret, 150*time.Millisecond)
		x := c.Prepare(t.Context(), &Request{Target: target, Armed: true})
		x.Send()
		<-answered
		arrived := clock.Now()
		time.Sleep(50 * time.Millisecond)
		rec := new(record.Record)
		x.Receive(rec, nil)
		if rec.Error == nil || rec.Error.Type != ErrTimeout {
			t.Fatalf("%+v", rec)
		}
		if end := rec.End - rec.Trace.EndUncertainNs; c.realTime != nil && (end > arrived+deliveryTime || end < rec.Start) {
			t.Errorf("waited %v, but the answer came after %v", time.Duration(end-rec.Start), time.Duration(arrived-rec.Start))
		}
	})
}

// TestEndOfFailedAnswers: the record of an answer that reports an error says when it arrived, however late the client reads it. A request without such an
// answer has none.
func TestEndOfFailedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		ended  bool
	}{
		"status 500": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }, true},
		"error in the stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write([]byte("data: bad\n\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, true},
		"no answer":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
		"broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
	} {
		everyProtocol(t, func(t *testing.T, http2, secret bool) {
			client, target := mustClient(t, func(o *Options) { o.Timeout, o.TLS.Insecure, o.HTTP2 = 200*time.Millisecond, true, http2 }), newTestServer(t, http2, secret, c.handle)
			x := client.Prepare(t.Context(), &Request{Target: target, Armed: true})
			x.Send()
			time.Sleep(100 * time.Millisecond)
			rec := new(record.Record)
			x.Receive(rec, func(all []record.Message) *record.Error { return &record.Error{Type: "E", Message: string(all[0].Raw)} })
			if end := rec.Trace.AnswerEnd; rec.Error == nil || (end != 0) != c.ended || c.ended && (end < rec.Start || time.Duration(end-rec.Start) > 60*time.Millisecond && rec.Trace.Reads > 0) {
				t.Errorf("%s: %+v ended after %v", name, rec.Error, time.Duration(end-rec.Start))
			}
		})
	}
}

// TestShortDeadlineOfStream: a stream of HTTP/2 gives up at its deadline, however short that is.
func TestShortDeadlineOfStream(t *testing.T) {
	var over atomic.Bool
	defer over.Store(true)
	go func() { // the runtime looks at its timers more often than once a millisecond while something runs
		for !over.Load() {
			runtime.Gosched()
		}
	}()
	shortest := time.Hour
	for range 20 {
		s := newStream(&h2conn{client: &Client{}, k: &conn{}})
		s.ended = true // nothing more can arrive
		began := time.Now()
		s.readBy(clock.Now() + 50_000)
		<-s.changed // the deadline is set
		for expired := false; !expired; {
			<-s.changed
			s.mu.Lock()
			expired = s.expired
			s.mu.Unlock()
		}
		shortest = min(shortest, time.Since(began))
	}
	if shortest >= time.Millisecond {
		t.Errorf("the deadline of 50 µs was noticed after %v", shortest)
	}
}
