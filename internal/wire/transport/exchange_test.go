package transport

import (
	"bufio"
	"context"
	"flag"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		pageSizes[0] = 64 // so that even short streams are packed
	}
	goleak.VerifyTestMain(testhome.Tests{M: m})
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// answers is a server that gives the same answer to every request of every connection and counts both.
type answers struct {
	target          *Target
	conns, requests atomic.Int32
	mu              sync.Mutex
	heads           [][]string
	closeAfter      int // close each connection after this number of requests (0 = never)
}

func newAnswers(t testing.TB, answer string) *answers {
	a := &answers{}
	a.target = rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		a.conns.Add(1)
		for n := 1; ; n++ {
			head, ok := readRequest(r)
			if !ok {
				return
			}
			a.requests.Add(1)
			a.mu.Lock()
			a.heads = append(a.heads, head)
			a.mu.Unlock()
			io.WriteString(c, answer)
			if a.closeAfter == n {
				return
			}
		}
	})
	return a
}

// head is the head of the i-th request.
func (a *answers) head(i int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heads[i]
}

// do sends one request and gives its record.
func do(c *Client, req *Request) *record.Record {
	rec := new(record.Record)
	c.Do(context.Background(), req, rec, nil)
	record.Unpack(rec.Messages)
	return rec
}

func wantError(t *testing.T, rec *record.Record, kind string, code int) {
	t.Helper()
	if rec.Error == nil || rec.Error.Type != kind || rec.Error.Code != code {
		t.Fatalf("error %+v, want %d %s", rec.Error, code, kind)
	}
	if rec.Trace.ErrorAt == 0 || rec.End < rec.Start {
		t.Errorf("error at %d, start %d, end %d", rec.Trace.ErrorAt, rec.Start, rec.End)
	}
}

func TestWireImage(t *testing.T) {
	a := newAnswers(t, okAnswer)
	h := HeaderSet{
		UserAgent: "aiperf/x", APIKey: "k", Streaming: true, SessionAffinity: true,
		User: []record.Header{{Name: "authorization", Value: "z"}, {Name: "x-ODD", Value: "1"}, {Name: "accept", Value: "x"},
			{Name: "content-length", Value: "7"}, {Name: "x-session-affinity", Value: "mine"}},
	}
	c := mustClient(t, nil)
	rec := do(c, &Request{Target: a.target, Headers: h.Build(Identity{RequestID: "r", CorrelationID: "c"}), Body: record.Plain([]byte("{}"))})
	if rec.Error != nil {
		t.Fatal(rec.Error)
	}
	want := []string{
		"POST /v1/chat/completions HTTP/1.1", "Host: " + a.target.Address(), "User-Agent: aiperf/x", "X-Request-ID: r", "X-Correlation-ID: c",
		"Authorization: Bearer k", "x-ODD: 1", "Accept: text/event-stream", "Content-Type: application/json",
		"X-Session-Affinity: c", "Content-Length: 2",
	}
	if got := a.head(0); !slices.Equal(got, want) {
		t.Errorf("on the wire:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := h.Overridden(); !slices.Equal(got, []string{"authorization", "accept", "content-length", "x-session-affinity"}) {
		t.Errorf("overridden: %q", got)
	}
}

func TestUserInformationIsBasicAuth(t *testing.T) {
	a := newAnswers(t, okAnswer)
	target := mustTarget(t, strings.Replace(a.target.URL, "://", "://u:p@", 1))
	c := mustClient(t, nil)
	do(c, &Request{Target: target, Body: record.Plain([]byte("{}"))})
	h := HeaderSet{APIKey: "k"}
	do(c, &Request{Target: target, Headers: h.Build(Identity{}), Body: record.Plain([]byte("{}"))})
	if got := a.head(0); got[len(got)-2] != "Authorization: Basic dTpw" {
		t.Errorf("head %q", got)
	}
	if got := strings.Join(a.head(1), "\n"); strings.Contains(got, "Basic") || !strings.Contains(got, "Bearer k") {
		t.Errorf("head %q", got)
	}
	if strings.Contains(target.URL, "u:p") {
		t.Errorf("URL %q shows its user information", target.URL)
	}
}

func TestReuse(t *testing.T) {
	for _, tc := range []struct {
		reuse  Reuse
		conns  int32
		header string
	}{{Pooled, 1, ""}, {Never, 6, "Connection: close"}, {Sticky, 2, ""}} {
		t.Run(string(tc.reuse), func(t *testing.T) {
			a := newAnswers(t, okAnswer)
			c := mustClient(t, func(o *Options) { o.Reuse = tc.reuse })
			reused := 0
			for turn := range 3 {
				for _, session := range []string{"a", "b"} {
					rec := do(c, &Request{Target: a.target, Body: record.Plain([]byte("{}")), Session: session, LastTurn: turn == 2})
					if rec.Error != nil {
						t.Fatal(rec.Error)
					}
					if rec.Trace.Reused != 0 {
						reused++
					}
				}
			}
			if got := a.conns.Load(); got != tc.conns || reused != 6-int(tc.conns) {
				t.Errorf("%d connections, %d reused, want %d", got, reused, tc.conns)
			}
			last := a.head(0)[len(a.head(0))-1]
			if (last == "Connection: close") != (tc.header != "") {
				t.Errorf("last header %q", last)
			}
			open := c.Stats().OpenConns
			if want := map[Reuse]int{Pooled: 1, Never: 0, Sticky: 0}[tc.reuse]; open != want {
				t.Errorf("%d connections open, want %d", open, want)
			}
		})
	}
}

func TestStickyConnectionIsDroppedAfterAnError(t *testing.T) {
	a := newAnswers(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"15\r\ndata: {\"error\":\"x\"}\n\n\r\n0\r\n\r\n")
	c := mustClient(t, func(o *Options) { o.Reuse = Sticky })
	for range 2 {
		rec := new(record.Record)
		c.Do(context.Background(), &Request{Target: a.target, Session: "s"}, rec, func([]record.Message) *record.Error {
			return &record.Error{Code: 502, Type: "SSEResponseError"}
		})
		wantError(t, rec, "SSEResponseError", 502)
		if rec.Trace.Reused != 0 {
			t.Error("the connection was used again after an error")
		}
	}
	if a.conns.Load() != 2 || c.Stats().OpenConns != 0 {
		t.Errorf("%d connections, %d open", a.conns.Load(), c.Stats().OpenConns)
	}
}

func TestDeadIdleConnectionIsReplacedSilently(t *testing.T) {
	a := newAnswers(t, okAnswer)
	a.closeAfter = 1
	c := mustClient(t, nil)
	for i := range 5 {
		if i > 0 { // until the FIN is here
			waitFor(t, func() bool {
				c.pool.mu.Lock()
				defer c.pool.mu.Unlock()
				idle := c.pool.idle[a.target.key]
				return len(idle) == 1 && !idle[0].alive()
			})
		}
		if rec := do(c, &Request{Target: a.target, Body: record.Plain([]byte("{}"))}); rec.Error != nil || rec.Trace.Reused != 0 {
			t.Fatalf("error %v, reused %d", rec.Error, rec.Trace.Reused)
		}
	}
	if a.requests.Load() != 5 || c.Stats().Replaced != 4 {
		t.Errorf("%d requests, %d replaced", a.requests.Load(), c.Stats().Replaced)
	}
}

// waitFor polls a condition that another goroutine or the kernel is about to make true.
func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !what(); {
		if time.Now().After(end) {
			t.Fatal("condition did not come true within a minute")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestArmedConnectionThatDiesIsReplaced(t *testing.T) {
	kill := make(chan struct{})
	var requests atomic.Int32
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			if _, ok := readRequest(r); !ok {
				return
			}
			n := requests.Add(1) // before the answer: the client looks at it as soon as that has come
			io.WriteString(c, okAnswer)
			if n == 1 {
				<-kill
				return
			}
		}
	})
	c := mustClient(t, nil)
	do(c, &Request{Target: target})
	x := c.Prepare(context.Background(), &Request{Target: target, Armed: true})
	if x.trace.Reused == 0 {
		t.Fatal("idle connection not taken")
	}
	close(kill)
	waitFor(t, func() bool { return !x.conn.alive() })
	x.ready -= 2 * staleAfter
	before := clock.Now()
	x.Send()
	var rec record.Record
	x.Receive(&rec, nil)
	if rec.Error != nil || rec.Trace.Reused != 0 || rec.Start < before || requests.Load() != 2 {
		t.Errorf("error %v, reused %d, start %d (before %d), %d requests", rec.Error, rec.Trace.Reused, rec.Start, before, requests.Load())
	}
}

func TestReusedConnectionClosedAfterTheRequestIsNotRetried(t *testing.T) {
	var requests atomic.Int32
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			if _, ok := readRequest(r); !ok {
				return
			}
			if requests.Add(1) > 1 {
				return
			}
			io.WriteString(c, okAnswer)
		}
	})
	c := mustClient(t, nil)
	do(c, &Request{Target: target})
	wantError(t, do(c, &Request{Target: target}), ErrClosed, 0)
	if requests.Load() != 2 {
		t.Errorf("%d requests arrived, want 2", requests.Load())
	}
}
