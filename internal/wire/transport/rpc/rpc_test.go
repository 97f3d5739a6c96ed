package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/transport"
)

// words are messages that are texts: a request is one message a line.
type words struct{}

func (words) Streams(method string) bool { return strings.HasSuffix(method, "Stream") }
func (words) Marshal(_ string, whole record.Body) (list [][]byte, err error) {
	body := whole.Bytes()
	if string(body) == "bad" {
		return nil, errors.New("no words for it")
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		list = append(list, []byte(line))
	}
	return list, nil
}
func (words) Unmarshal(_ string, m []byte) ([]byte, *record.Error) {
	if string(m) == "fail" {
		return nil, &record.Error{Type: "T", Code: 500, Message: "in band"}
	}
	return m, nil
}

// serve starts a gRPC server that answers every method the same way, and gives its address.
func serve(t *testing.T, answer func(s grpc.ServerStream) error, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(append(options, grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error { return answer(s) }))...)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

// send makes one request and gives its record.
func send(t *testing.T, c *Client, url, body string, change func(*transport.Request)) *record.Record {
	t.Helper()
	return sendAnd(t, c, url, body, change, nil)
}

// sendAnd is the same with a callback for every message.
func sendAnd(t *testing.T, c *Client, url, body string, change func(*transport.Request), on transport.OnMessage) *record.Record {
	t.Helper()
	target, err := transport.NewTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	r := &transport.Request{Target: target, Armed: true, Body: record.Plain([]byte(body)), Session: "s",
		Headers: []record.Header{{Name: "X-Request-ID", Value: "id"}, {Name: "Accept", Value: "a"}, {Name: "Authorization", Value: "Bearer k"}}}
	if change != nil {
		change(r)
	}
	x := c.Prepare(t.Context(), r)
	x.Send()
	rec := new(record.Record)
	x.Receive(rec, on)
	return rec
}

func client(t *testing.T, change func(*transport.Options)) *Client {
	t.Helper()
	o := transport.DefaultOptions()
	o.Timeout = 20 * time.Second
	if change != nil {
		change(&o)
	}
	c, err := NewClient(o, words{}, "agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// echo answers every word of a message with the instant at which it was sent.
func echo(s grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(s.Context())
	if fmt.Sprint(md.Get("x-request-id"), md.Get("authorization"), md.Get("accept")) != "[id] [Bearer k] []" || md.Get("user-agent")[0] != "agent" {
		return status.Error(codes.InvalidArgument, fmt.Sprint(md))
	}
	for {
		var in []byte
		if err := s.RecvMsg(&in); errors.Is(err, io.EOF) {
			s.SetTrailer(metadata.Pairs("the-end", "yes"))
			return nil
		} else if err != nil {
			return err
		}
		for _, word := range strings.Fields(string(in)) {
			if err := s.SendMsg([]byte(fmt.Sprint(word, " ", time.Now().UnixNano()))); err != nil {
				return err
			}
		}
	}
}

// TestStamps: a message arrives after it was sent; the record holds every instant in order, what went over the wire, and the headers.
func TestStamps(t *testing.T) {
	at := "grpc://" + serve(t, echo)
	for name, change := range map[string]func(*transport.Options){
		"pooled": nil, "never": func(o *transport.Options) { o.Reuse = transport.Never }, "sticky": func(o *transport.Options) { o.Reuse = transport.Sticky },
		"user stamps": func(o *transport.Options) { o.UserStamps = true },
	} {
		c := client(t, change)
		for i := range 3 {
			rec := send(t, c, at+"/p.S/Stream", "a b c d", nil)
			if rec.Error != nil || len(rec.Messages) != 4 || rec.Status != 200 {
				t.Fatalf("%s: %+v %+v", name, rec.Error, rec)
			}
			tr := rec.Trace
			for k, m := range rec.Messages {
				var word string
				var sent int64
				if _, err := fmt.Sscanf(string(m.Raw), "data: %s %d", &word, &sent); err != nil || m.Body || !m.Line {
					t.Fatalf("%s: %q %v", name, m.Raw, err)
				}
				if early := sent - rec.Wall(m.At); early > int64(time.Millisecond) {
					t.Errorf("%s: message %d is stamped %v before it was sent", name, k, time.Duration(early))
				}
				if k > 0 && m.At < rec.Messages[k-1].At || m.At > rec.End || m.Clock == record.KernelClock && name == "user stamps" {
					t.Errorf("%s: message %d at %d by %v, end %d", name, k, m.At, m.Clock, rec.End)
				}
			}
			order := []int64{rec.Start, tr.SendStart, tr.SendEnd, tr.HeadersReceived, tr.FirstChunk, tr.LastChunk, rec.End}
			for k := 1; k < len(order); k++ {
				if order[k] < order[k-1] {
					t.Errorf("%s: instants %v", name, order)
				}
			}
			sum := 0
			for _, m := range rec.Messages {
				sum += len(m.Raw) - len("data: ") + grpcwire.PrefixSize
			}
			if tr.BytesSent != grpcwire.PrefixSize+7 || tr.BytesReceived != sum || tr.LocalPort == 0 || rec.Ack == 0 {
				t.Errorf("%s: %+v", name, tr)
			}
			if reused := tr.Reused != 0; reused != (i > 0 && name != "never") || reused == (tr.ConnectEnd != 0) {
				t.Errorf("%s: request %d: reused %v, connected %d", name, i, reused, tr.ConnectEnd)
			}
			if h := fmt.Sprint(rec.ResponseHeaders); !strings.Contains(h, "{the-end yes}") || !strings.Contains(h, "application/grpc") {
				t.Errorf("%s: %s", name, h)
			}
			if h := fmt.Sprint(rec.RequestHeaders); h != "[{x-request-id id} {authorization Bearer k}]" {
				t.Errorf("%s: %s", name, h)
			}
		}
		want := map[string]int64{"never": 3}[name] + 1 - map[string]int64{"never": 1}[name]
		if got := c.Wire().Stats().Dialled; got != want {
			t.Errorf("%s: %d connections, want %d", name, got, want)
		}
	}
}

func TestSeveralMessagesAndUnary(t *testing.T) {
	at := "grpc://" + serve(t, echo)
	c := client(t, nil)
	if rec := send(t, c, at+"/p.S/Stream", "a\nb c\nd", nil); rec.Error != nil || len(rec.Messages) != 4 || rec.Trace.BytesSent != 3*grpcwire.PrefixSize+5 {
		t.Errorf("%+v %+v", rec, rec.Trace)
	}
	rec := send(t, c, at+"/p.S/Unary", "a", nil)
	if rec.Error != nil || len(rec.Messages) != 1 || !rec.Messages[0].Body || rec.Messages[0].ContentType() != "application/json" {
		t.Errorf("%+v", rec)
	}
	big := strings.Repeat("x", 300<<10)
	if rec := send(t, c, at+"/p.S/Stream", big+"\n"+big+" "+big, nil); rec.Error != nil || len(rec.Messages) != 3 {
		t.Errorf("%+v", rec.Error)
	}
}

// TestFailures: every way to fail has its class and code, and what came before it is kept.
func TestFailures(t *testing.T) {
	first := func(then func(grpc.ServerStream) error) func(grpc.ServerStream) error {
		return func(s grpc.ServerStream) error {
			var in []byte
			if err := s.RecvMsg(&in); err != nil {
				return err
			}
			if err := s.SendMsg([]byte("one")); err != nil {
				return err
			}
			return then(s)
		}
	}
	hang := func(s grpc.ServerStream) error {
		<-s.Context().Done()
		return status.FromContextError(s.Context().Err()).Err()
	}
	for name, c := range map[string]struct {
		answer   func(grpc.ServerStream) error
		options  func(*transport.Options)
		request  func(*transport.Request)
		body     string
		want     string
		status   int
		messages int
	}{
		"status":     {first(func(grpc.ServerStream) error { return status.Error(codes.ResourceExhausted, "full") }), nil, nil, "a", "429 RESOURCE_EXHAUSTED full", 429, 1},
		"at once":    {func(grpc.ServerStream) error { return status.Error(codes.NotFound, "no model") }, nil, nil, "a", "404 NOT_FOUND no model", 404, 0},
		"cancelled":  {func(grpc.ServerStream) error { return status.Error(codes.Canceled, "c") }, nil, nil, "a", "499 CANCELLED c", 499, 0},
		"late there": {func(grpc.ServerStream) error { return status.Error(codes.DeadlineExceeded, "d") }, nil, nil, "a", "504 DEADLINE_EXCEEDED d", 504, 0},
		"odd":        {func(grpc.ServerStream) error { return status.Error(codes.Code(77), "o") }, nil, nil, "a", "500 CODE(77) o", 500, 0},
		"in band":    {first(func(s grpc.ServerStream) error { return s.SendMsg([]byte("fail")) }), nil, nil, "a", "500 T in band", 200, 1},
		"timeout":    {first(hang), func(o *transport.Options) { o.Timeout = time.Second }, nil, "a", "0 TimeoutError the request timeout of 1s passed while the answer was still arriving", 0, 1},
		"cut":        {first(hang), nil, func(r *transport.Request) { r.Cancel, r.CancelAfter = true, time.Second }, "a", "499 RequestCancellationError Request cancelled 1.000s after being sent", 0, 1},
		"too large":  {first(hang), func(o *transport.Options) { o.MaxResponse = 4 }, nil, "a", "0 ClientPayloadError The answer is larger than 4 bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", 200, 0},
		"no words":   {hang, nil, nil, "bad", "0 ValueError no words for it", 0, 0},
	} {
		rec := send(t, client(t, c.options), "grpc://"+serve(t, c.answer)+"/p.S/Stream", c.body, c.request)
		if rec.Error == nil {
			t.Errorf("%s: no failure", name)
			continue
		}
		if got := fmt.Sprint(rec.Error.Code, " ", rec.Error.Type, " ", rec.Error.Message); got != c.want || rec.Status != c.status || len(rec.Messages) != c.messages {
			t.Errorf("%s: %q, status %d, %d messages; want %q, %d, %d", name, got, rec.Status, len(rec.Messages), c.want, c.status, c.messages)
		}
		if rec.End <= rec.Start || (rec.CancelledAt != 0) != (name == "cut") || rec.Trace.ErrorAt == 0 {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}

// TestEndlessEmptyMessages: messages without content end at the number of events that HTTP allows, or at the request's timeout.
func TestEndlessEmptyMessages(t *testing.T) {
	testhome.Slow(t)
	var sent atomic.Int64
	address := serve(t, func(s grpc.ServerStream) error {
		var in []byte
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		for {
			if err := s.SendMsg([]byte{}); err != nil {
				return err
			}
			sent.Add(1)
		}
	})
	rec := send(t, client(t, func(o *transport.Options) { o.MaxResponse = 1 << 20 }), "grpc://"+address+"/p.S/Stream", "a", nil)
	want := "The answer has more than 8192 messages (one for 128 bytes of AIPERF_HTTP_MAX_RESPONSE_BYTES)"
	if rec.Error == nil || rec.Error.Message != want || len(rec.Messages) > 8192 || len(rec.Messages) == 0 {
		t.Errorf("%+v, %d messages", rec.Error, len(rec.Messages))
	}
	c := client(t, func(o *transport.Options) { o.Timeout = time.Second })
	target, err := transport.NewTarget("grpc://" + address + "/p.S/Stream")
	if err != nil {
		t.Fatal(err)
	}
	x := c.Prepare(t.Context(), &transport.Request{Target: target, Body: record.Plain([]byte("a")), Session: "s"})
	x.Send()
	late, rec := 0, new(record.Record)
	x.Receive(rec, func([]record.Message) *record.Error {
		if x.call.Err() != nil {
			late++
		}
		<-x.call.Done() // the messages behind the first wait in the buffer meanwhile
		return nil
	})
	if rec.Error == nil || rec.Error.Type != transport.ErrTimeout || late != 0 {
		t.Errorf("%+v, %d messages after the timeout", rec.Error, late)
	}
}

// TestConnectionsThatFail: errors of a port without a server, a server without gRPC, a broken connection, and an idle connection that died.
func TestConnectionsThatFail(t *testing.T) {
	if rec := send(t, client(t, nil), "grpc://127.0.0.1:1/p.S/M", "a", nil); rec.Error == nil || rec.Error.Type != transport.ErrConnect {
		t.Errorf("%+v", rec.Error)
	}
	web := httptest.NewServer(nil)
	defer web.Close()
	if rec := send(t, client(t, nil), "grpc"+strings.TrimPrefix(web.URL, "http")+"/p.S/M", "a", nil); rec.Error == nil || rec.Error.Type != transport.ErrConnect || !strings.Contains(rec.Error.Message, "does not speak gRPC") {
		t.Errorf("%+v", rec.Error)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	short := client(t, func(o *transport.Options) { o.Timeout = 200 * time.Millisecond })
	if rec := send(t, short, "grpc://"+silent.Addr().String()+"/p.S/M", "a", nil); rec.Error == nil || rec.Error.Type != transport.ErrTimeout {
		t.Errorf("%+v", rec.Error)
	}

	came := make(chan struct{}, 1)
	var taken atomic.Pointer[net.TCPConn]
	tap := tapped{seen: func(c net.Conn) { taken.Store(c.(*net.TCPConn)) }}
	breaks := serve(t, func(s grpc.ServerStream) error {
		var in []byte
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		if err := s.SendMsg([]byte("one")); err != nil || string(in) != "break" {
			return err
		}
		<-came
		return taken.Load().Close()
	}, grpc.Creds(tap))
	c := client(t, nil)
	told := func([]record.Message) *record.Error { came <- struct{}{}; return nil }
	if rec := sendAnd(t, c, "grpc://"+breaks+"/p.S/Stream", "break", nil, told); rec.Error == nil || rec.Error.Type != "UNAVAILABLE" || len(rec.Messages) != 1 {
		t.Errorf("%+v", rec)
	}
	for range 2 { // the second one finds its connection dead
		if rec := send(t, c, "grpc://"+breaks+"/p.S/Stream", "fine", nil); rec.Error != nil || len(rec.Messages) != 1 {
			t.Fatalf("%+v", rec.Error)
		}
		taken.Load().Close()
	}
	x := prepared(t, c, "grpc://"+breaks+"/p.S/Stream")
	taken.Load().Close()
	<-x.channel.over
	x.Send()
	rec := new(record.Record)
	if x.Receive(rec, nil); rec.Error != nil || rec.Trace.Reused != 0 || rec.Start == 0 {
		t.Errorf("%+v", rec)
	}
	x = prepared(t, c, "grpc://"+breaks+"/p.S/Stream")
	x.Drop()
	if y := prepared(t, c, "grpc://"+breaks+"/p.S/Stream"); y.channel != x.channel {
		t.Error("a request that was not sent has cost its connection")
	} else {
		y.Drop()
	}
}

func prepared(t *testing.T, c *Client, url string) *Exchange {
	t.Helper()
	target, err := transport.NewTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Prepare(t.Context(), &transport.Request{Target: target, Armed: true, Body: record.Plain([]byte("fine"))})
	if x.err != nil {
		t.Fatal(x.err)
	}
	return x
}

// tapped shows a server's connections to a test.
type tapped struct {
	presetSecurity
	seen func(net.Conn)
}

func (s tapped) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	s.seen(c)
	return c, presetSecurityInfo{}, nil
}
func (s tapped) Clone() credentials.TransportCredentials { return s }

// TestCutFromOutside: the run ends a request, before it is sent and while it is answered.
func TestCutFromOutside(t *testing.T) {
	cause := errors.New("the phase is over")
	arrived := make(chan struct{})
	at := serve(t, func(s grpc.ServerStream) error { close(arrived); <-s.Context().Done(); return nil })
	target, err := transport.NewTarget("grpc://" + at + "/p.S/Stream")
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, nil)
	for _, early := range []bool{false, true} {
		ctx, cut := context.WithCancelCause(t.Context())
		if early {
			cut(cause)
		} else {
			go func() { <-arrived; cut(cause) }()
		}
		x := c.Prepare(ctx, &transport.Request{Target: target, Armed: true, Body: record.Plain([]byte("a"))})
		x.Send()
		rec := new(record.Record)
		x.Receive(rec, nil)
		if rec.Error == nil || rec.Error.Type != transport.ErrCancelled || rec.Cut != cause.Error() || rec.CancelledAt == 0 {
			t.Errorf("early %v: %+v", early, rec)
		}
		cut(nil)
	}
}

// TestTLS: grpcs is stamped as grpc is; a certificate that nobody vouches for is refused by its class.
func TestTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	pair := web.TLS.Certificates[0]
	web.Close()
	at := "grpcs://" + serve(t, echo, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}))) + "/p.S/Stream"
	rec := send(t, client(t, func(o *transport.Options) { o.TLS.Insecure = true }), at, "a b", nil)
	if rec.Error != nil || len(rec.Messages) != 2 || rec.Messages[0].At <= rec.Start || rec.Trace.SendEnd < rec.Trace.SendStart || rec.Trace.SendStart == 0 {
		t.Errorf("%+v %+v", rec, rec.Trace)
	}
	if rec := send(t, client(t, nil), at, "a", nil); rec.Error == nil || rec.Error.Type != transport.ErrCertificate {
		t.Errorf("%+v", rec.Error)
	}
}

// TestSessionsEnd: the connection of a session is closed when the session is, and all when the client is.
func TestSessionsEnd(t *testing.T) {
	at := "grpc://" + serve(t, echo) + "/p.S/Stream"
	c := client(t, func(o *transport.Options) { o.Reuse = transport.Sticky })
	send(t, c, at, "a", nil)
	if n := c.Wire().Stats().OpenConns; n != 1 {
		t.Errorf("%d connections open, not 1", n)
	}
	c.CloseSession("other")
	c.CloseSession("s")
	if n := c.Wire().Stats().OpenConns; n != 0 {
		t.Errorf("%d connections open, not 0", n)
	}
	send(t, c, at, "a", func(r *transport.Request) { r.LastTurn = true })
	send(t, c, at, "a", nil)
	c.Close()
	if n := c.Wire().Stats().OpenConns; n != 0 {
		t.Errorf("%d connections open, not 0", n)
	}
	if rec := send(t, c, at, "a", nil); rec.Error == nil && c.Wire().Stats().OpenConns != 0 {
		t.Error("a client that was closed keeps a connection")
	}
}
