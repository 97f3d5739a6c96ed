package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/measure/record"
)

// answer sends one canned answer and gives the record.
func answer(t *testing.T, req *Request, format string, args ...any) *record.Record {
	t.Helper()
	reply := fmt.Sprintf(strings.ReplaceAll(format, "\n", "\r\n"), args...)
	req.Target = rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, reply)
	})
	rec := do(mustClient(t, func(o *Options) { o.Timeout = time.Minute }), req)
	hide := requestSecrets(rec)
	if _, word, ok := strings.Cut(req.Target.auth, " "); ok {
		hide.Add(word)
	}
	CleanError(rec, hide)
	return rec
}

func TestBodies(t *testing.T) {
	var zl, zs bytes.Buffer
	w := zlib.NewWriter(&zl)
	io.WriteString(w, `{"a":"é"}`)
	w.Close()
	var members, twice bytes.Buffer
	for _, s := range []string{`{"a":`, `"é"}`} {
		g := gzip.NewWriter(&members)
		io.WriteString(g, s)
		g.Close()
	}
	g := gzip.NewWriter(&twice)
	g.Write(members.Bytes())
	g.Close()
	e, _ := zstd.NewWriter(&zs)
	io.WriteString(e, `{"a":"é"}`)
	e.Close()
	for _, c := range []struct {
		name, headers, body string
		want                string
		size                int
		keep                bool
	}{
		{name: "JSON", headers: "Content-Type: application/json", body: "{}", want: "{}"},
		{name: "no type", body: "{}", want: "{}"},
		{name: "latin-1", headers: "Content-Type: text/plain; charset=latin-1", body: "\xe9", want: "é"},
		{name: "windows", headers: "Content-Type: text/plain; charset=windows-1252", body: "\x80", want: "€"},
		{name: "utf-16", headers: "Content-Type: text/plain; charset=utf-16le", body: "a\x00", want: "a"},
		{name: "unknown charset", headers: "Content-Type: text/plain; charset=klingon", body: "é", want: "é"},
		{name: "broken UTF-8", headers: "Content-Type: text/plain", body: "a\xff", want: "a\uFFFD"},
		{name: "image", headers: "Content-Type: image/png", body: "\x89PNG", size: 4},
		{name: "image kept", headers: "Content-Type: image/png", body: "\x89PNG", want: "\x89PNG", size: 4, keep: true},
		{name: "octets", headers: "Content-Type: application/octet-stream", body: "\xff\xfe", size: 2},
		{name: "octets that are JSON", headers: "Content-Type: application/octet-stream", body: " {}", want: " {}", size: 3},
		{name: "zlib", headers: "Content-Encoding: deflate", body: zl.String(), want: `{"a":"é"}`},
		{name: "gzip in two members", headers: "Content-Encoding: gzip", body: members.String(), want: `{"a":"é"}`},
		{name: "gzip twice", headers: "Content-Encoding: gzip, gzip", body: twice.String(), want: `{"a":"é"}`},
		{name: "zstd", headers: "Content-Encoding: zstd", body: zs.String(), want: `{"a":"é"}`},
		{name: "events of another type", headers: "Content-Type: application/json", body: "data: a\n\n", want: "data: a\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := c.headers
			if headers != "" {
				headers += "\n"
			}
			rec := answer(t, &Request{KeepBinary: c.keep}, "HTTP/1.1 200 OK\n%sContent-Length: %d\n\n%s",
				strings.ReplaceAll(headers, "\n", "\r\n"), len(c.body), c.body)
			if rec.Error != nil || len(rec.Messages) != 1 {
				t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
			}
			if m := rec.Messages[0]; string(m.Raw) != c.want || m.Size() != c.size || !m.Body || m.At != rec.End {
				t.Errorf("message %q, %+v", m.Raw, m)
			}
			if tr := rec.Trace; tr.ChunksReceived != 1 || tr.FirstChunk == 0 || c.headers != "" && tr.HeadersReceived != rec.Ack {
				t.Errorf("trace %+v", tr)
			}
		})
	}
}

func TestCredentialsDoNotReturnInErrors(t *testing.T) {
	h := HeaderSet{APIKey: "SECRET99", User: []record.Header{{Name: "X-API-Key", Value: "S2S2S2"}}}
	rec := answer(t, &Request{Headers: h.Build(Identity{RequestID: "r", CorrelationID: "c"})},
		"HTTP/1.1 401 Unauthorized\nContent-Length: 40\n\n%-40s", "you sent SECRET99 and S2S2S2")
	wantError(t, rec, "Unauthorized", 401)
	if m := strings.TrimSpace(rec.Error.Message); m != "you sent <redacted> and <redacted>" {
		t.Errorf("message %q", m)
	}
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n")
	})
	mustClient(t, nil).Do(context.Background(), &Request{Target: target, Headers: h.Build(Identity{})}, rec, func([]record.Message) *record.Error {
		return &record.Error{Code: 502, Type: "SSEResponseError", Message: "key SECRET99 is bad"}
	})
	CleanError(rec, requestSecrets(rec))
	if wantError(t, rec, "SSEResponseError", 502); rec.Error.Message != "key <redacted> is bad" {
		t.Errorf("message %q", rec.Error.Message)
	}
}

func TestErrorStatusKeepsItsBody(t *testing.T) {
	rec := answer(t, &Request{}, "HTTP/1.1 500 Oops\nContent-Length: 50\n\ncut")
	if wantError(t, rec, "Oops", 500); rec.Error.Message != "cut" || rec.Ack != 0 || rec.Status != 500 {
		t.Errorf("%+v, ack %d", rec.Error, rec.Ack)
	}
	rec = answer(t, &Request{}, "HTTP/1.1 429 Too Many Requests\nRetry-After: 1\nContent-Type: text/event-stream\nContent-Length: 2\n\nno")
	wantError(t, rec, "Too Many Requests", 429)
}

func TestEventsThatShareARead(t *testing.T) {
	var want strings.Builder
	for i := range 50 {
		fmt.Fprintf(&want, "data: %d\r\n\r\n", i)
	}
	rec := answer(t, &Request{}, "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n%s", want.String())
	if rec.Error != nil || len(rec.Messages) != 50 || rec.Trace.SharedReads < 40 {
		t.Fatalf("error %+v, %d messages, %d coalesced", rec.Error, len(rec.Messages), rec.Trace.SharedReads)
	}
}

// Every byte is a separate write: head, chunk framing and events are all cut everywhere.
func TestBytewiseStream(t *testing.T) {
	reply := "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"9;x=y\r\ndata: a\n\n\r\n3\r\n: c\r\n6\r\n\r\r\ndat\r\n11\r\na: \xf0\x9f\x98\x80\r\n\r\nda\r\nt\r\n1\r\nt\r\n0\r\nT: x\r\n\r\n"
	reply = strings.Replace(reply, "11\r\na: \xf0\x9f\x98\x80\r\n\r\nda\r\nt\r\n1\r\nt\r\n", "b\r\na: \xf0\x9f\x98\x80\r\n\r\n\r\n7\r\ndata: z\r\n", 1)
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			if _, ok := readRequest(r); !ok {
				return
			}
			for i := range len(reply) {
				io.WriteString(c, reply[i:i+1])
			}
		}
	})
	c := mustClient(t, nil)
	for range 2 {
		rec := do(c, &Request{Target: target})
		var got []string
		for _, m := range rec.Messages {
			got = append(got, string(m.Raw))
		}
		if rec.Error != nil || strings.Join(got, "|") != "data: a|: c|data: \U0001F600|data: z" {
			t.Fatalf("error %+v, messages %q", rec.Error, got)
		}
		for i := 1; i < len(rec.Messages); i++ {
			if rec.Messages[i].At < rec.Messages[i-1].At {
				t.Error("stamps go backwards")
			}
		}
	}
	if c.Stats().Dialled != 1 {
		t.Errorf("%d connections", c.Stats().Dialled)
	}
}

// Empty lines ahead of a head, in whatever reads they come, are what a sloppy server left behind its last answer.
func TestEmptyLinesAheadOfTheHead(t *testing.T) {
	for _, pieces := range [][]string{
		{"\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"},
		{"\r", "\n\r\nHTT", "P/1.1 100 Continue\r\n\r\n\n", "\nHTTP/1.1 200 OK\nContent-Length: 2\n\n{}"},
		{"\n\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"},
	} {
		target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			for {
				if _, ok := readRequest(r); !ok {
					return
				}
				for _, p := range pieces {
					io.WriteString(c, p)
				}
			}
		})
		c := mustClient(t, nil)
		for range 2 {
			if rec := do(c, &Request{Target: target}); rec.Error != nil || rec.Status != 200 || string(rec.Messages[0].Raw) != "{}" {
				t.Errorf("%q: error %+v, status %d", pieces, rec.Error, rec.Status)
			}
		}
	}
	rec := answer(t, &Request{}, "\n\n")
	wantError(t, rec, ErrClosed, 0)
}

// A message is stamped and given when its bytes are there, also if the compressed data ends with it and the body does not yet.
func TestCompressedDataEndsBeforeTheBody(t *testing.T) {
	var z bytes.Buffer
	for _, text := range []string{"data: 1\n\n", "data: 2\n\n"} { // two members
		w := gzip.NewWriter(&z)
		io.WriteString(w, text)
		w.Close()
	}
	seen := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", z.Len(), z.Bytes())
		<-seen
		io.WriteString(c, "0\r\n\r\n")
	})
	var rec record.Record
	c := mustClient(t, func(o *Options) { o.Timeout = time.Minute })
	n := 0
	c.Do(context.Background(), &Request{Target: target}, &rec, func([]record.Message) *record.Error {
		if n++; n == 2 {
			close(seen)
		}
		return nil
	})
	if n < 2 {
		close(seen)
	}
	if rec.Error != nil || len(rec.Messages) != 2 || rec.Trace.LastChunk != rec.Messages[1].At {
		t.Errorf("error %+v, %d messages, %d given", rec.Error, len(rec.Messages), n)
	}
}

// TestAFailureOfTheReaderEndsTheReading: messages before the failure are kept, the failed message is not, and nothing after it is read.
func TestAFailureOfTheReaderEndsTheReading(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n")
		r.ReadByte() // until the client goes
	})
	var seen []string
	var rec record.Record
	mustClient(t, nil).Do(context.Background(), &Request{Target: target}, &rec, func(all []record.Message) *record.Error {
		m := &all[len(all)-1]
		if seen = append(seen, string(m.Raw)); len(seen) < 3 {
			return nil
		}
		return &record.Error{Code: 429, Type: "T", Message: "m"}
	})
	wantError(t, &rec, "T", 429)
	if strings.Join(seen, "|") != "data: 1|data: 2|data: 3" || len(rec.Messages) != 2 || !rec.Messages[0].Line {
		t.Errorf("seen %q, %d messages", seen, len(rec.Messages))
	}
}

// TestBodiesInRanges: a large range is written from where it lies; the server gets the ranges in order, over TLS as well.
func TestBodiesInRanges(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), shareFrom/16)
	body := record.Plain([]byte("{a"), big, []byte("b"), []byte("c"), big, big, []byte("}"))
	var got []byte
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		io.WriteString(w, "{}")
	})
	for name, start := range map[string]func(http.Handler) *httptest.Server{"plain": httptest.NewServer, "tls": httptest.NewTLSServer} {
		srv := start(handler)
		rec := do(mustClient(t, func(o *Options) { o.TLS.Insecure = true }), &Request{Target: mustTarget(t, srv.URL), Body: body})
		srv.Close()
		if rec.Error != nil || !bytes.Equal(got, body.Bytes()) || rec.Trace.BytesSent != body.Len() || rec.Payload.Len() != body.Len() {
			t.Errorf("%s: %+v, %d bytes of %d", name, rec.Error, len(got), body.Len())
		}
	}
}

func TestOddities(t *testing.T) {
	rec := answer(t, &Request{}, "HTTP/1.1 200 OK\nContent-Length: 0\n\n{}")
	wantError(t, rec, ErrResponse, 0)
	rec = answer(t, &Request{}, "HTTP/1.1 200 OK\nContent-Length: 0\n\n")
	if rec.Error != nil || len(rec.Messages) != 1 || len(rec.Messages[0].Raw) != 0 {
		t.Errorf("empty answer: %+v, %d messages", rec.Error, len(rec.Messages))
	}
	rec = answer(t, &Request{}, "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}surplus")
	if rec.Error != nil || string(rec.Messages[0].Raw) != "{}" {
		t.Errorf("surplus bytes: %+v", rec.Error)
	}
	rec = answer(t, &Request{}, "HTTP/1.1 101 Switching Protocols\nUpgrade: x\n\n")
	wantError(t, rec, "Switching Protocols", 101)
	rec = answer(t, &Request{}, "SSH-2.0-x\n")
	wantError(t, rec, ErrResponse, 0)
	rec = answer(t, &Request{}, "HTTP/1.1 200 OK\nX: %s\n\n", strings.Repeat("x", maxHead))
	wantError(t, rec, ErrResponse, 0)
}
