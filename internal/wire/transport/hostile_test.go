package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// endless answers a request with a head and then with pieces for as long as anybody reads.
func endless(t *testing.T, head, piece string) *Target {
	return rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, strings.ReplaceAll(head, "\n", "\r\n"))
		block := []byte(strings.Repeat(piece, 1+(32<<10)/len(piece)))
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
}

// bounded is a client whose answers may have 1 MiB.
func bounded(t *testing.T) *Client {
	return mustClient(t, func(o *Options) { o.MaxResponse, o.Timeout = 1<<20, 20*time.Second })
}

// kept is how many bytes of messages a record holds.
func kept(rec *record.Record) (n int) {
	record.Unpack(rec.Messages)
	for _, m := range rec.Messages {
		n += len(m.Raw)
	}
	return n
}

const (
	jsonHead  = "HTTP/1.1 200 OK\nContent-Type: application/json\n"
	eventHead = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n"
)

// TestAnswersWithoutEnd: each ends as an error long before the timeout, and nothing beyond the bound is kept.
func TestAnswersWithoutEnd(t *testing.T) {
	var bomb bytes.Buffer
	z, _ := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
	io.Copy(z, io.LimitReader(zeros{}, 4<<20))
	z.Close()
	for _, c := range []struct{ name, head, piece, kind, says string }{
		{"body", jsonHead + "\n", " ", ErrPayload, "larger than 1048576 bytes"},
		{"body of a known length", jsonHead + "Content-Length: 1000000000\n\n", " ", ErrPayload, "larger than 1048576 bytes"},
		{"chunked body", jsonHead + "Transfer-Encoding: chunked\n\n", "4\r\n1234\r\n", ErrPayload, "larger than 1048576 bytes"},
		{"stream", eventHead + "\n", "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 200) + "\"}}]}\n\n", ErrPayload, "stream is larger"},
		{"stream of tiny events", eventHead + "\n", "data: 1\n\n", ErrPayload, "more than 8192 events"},
		{"one event of many lines", eventHead + "\n", ":\n", ErrPayload, "more than 16384 lines"},
		{"one line", eventHead + "\n", "data: x", ErrPayload, "stream is larger"},
		{"empty lines", eventHead + "\n", "\n", ErrPayload, "stream is larger"},
		{"gzip bomb", jsonHead + "Content-Encoding: gzip\n\n", bomb.String(), ErrPayload, "larger than 1048576 bytes"},
		{"gzip transfer bomb", eventHead + "Transfer-Encoding: gzip\n\n", bomb.String(), ErrPayload, "larger than 1048576 bytes"},
		{"interim responses", "", "HTTP/1.1 103 Early Hints\r\n\r\n", ErrResponse, "More than 100 interim responses"},
		{"empty lines ahead of the head", "", "\r\n", ErrResponse, "head larger than"},
		{"header lines", "HTTP/1.1 200 OK\n", "A: b\r\n", ErrResponse, "head larger than"},
		{"folded header lines", "HTTP/1.1 200 OK\nA: b\n", " c\r\n", ErrResponse, "head larger than"},
		{"chunk extensions", jsonHead + "Transfer-Encoding: chunked\n\n", "1;" + strings.Repeat("e", 2000) + "\r\nx\r\n", ErrResponse, "Chunk extensions"},
		{"trailer", jsonHead + "Transfer-Encoding: chunked\n\n0\n", "T: x\r\n", ErrResponse, "Trailer longer"},
		{"blanks behind a chunk", jsonHead + "Transfer-Encoding: chunked\n\n1\nx", "\r", ErrResponse, "Chunk extension longer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := do(bounded(t), &Request{Target: endless(t, c.head, c.piece)})
			if wantError(t, rec, c.kind, 0); !strings.Contains(rec.Error.Message, c.says) {
				t.Errorf("message %q, want %q", rec.Error.Message, c.says)
			}
			if n := kept(rec); n > 1<<20 {
				t.Errorf("%d bytes kept", n)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestEndlessBytesAfterTheEndMark: the answer is complete; later bytes are counted, up to the bound of an answer.
func TestEndlessBytesAfterTheEndMark(t *testing.T) {
	rec := do(bounded(t), &Request{Target: endless(t, eventHead+"\ndata: {}\n\ndata: [DONE]\n\n", "data: {\"more\":1}\n\n")})
	if rec.Error != nil || kept(rec) > 128<<10 || rec.Trace.BytesReceived < 1<<20 {
		t.Errorf("error %v, %d bytes kept of %d", rec.Error, kept(rec), rec.Trace.BytesReceived)
	}
}

// TestEndlessErrorBody: the status is the error, its text is short, and the connection is not used again.
func TestEndlessErrorBody(t *testing.T) {
	c := mustClient(t, func(o *Options) { o.Timeout = 20 * time.Second })
	rec := do(c, &Request{Target: endless(t, "HTTP/1.1 500 Oops\n\n", "token=S3CR3T ")})
	wantError(t, rec, "Oops", 500)
	if n := len(rec.Error.Message); n > maxKept+10 || rec.Trace.BytesReceived > maxErrorBody+(1<<20) || c.Stats().OpenConns != 0 {
		t.Errorf("%d bytes of message, %d read, %d connections", n, rec.Trace.BytesReceived, c.Stats().OpenConns)
	}
	CleanError(rec, requestSecrets(rec))
	if m := rec.Error.Message; len([]rune(m)) != maxMessage+1 || strings.Contains(m, "S3CR3T") {
		t.Errorf("%d characters: %.80q", len([]rune(m)), m)
	}
}

// TestTooLargeStreamKeepsItsBeginning: of a stream that was too large there are the first events, whole, and no more than a mebibyte.
func TestTooLargeStreamKeepsItsBeginning(t *testing.T) {
	const one = "data: {\"choices\":[{\"delta\":{\"content\":\"a word and another one to make it longer than an event of a stream must be to reach the bound\"}}]}\n\n"
	for _, mode := range []CaptureMode{CaptureOff, CaptureAuto} { // a capture has notes of messages that are not kept
		c := mustClient(t, func(o *Options) { o.MaxResponse, o.Timeout, o.Capture = 4<<20, 20*time.Second, mode })
		rec := do(c, &Request{Target: endless(t, eventHead+"\n", one)})
		wantError(t, rec, ErrPayload, 0)
		if n := kept(rec); n > keptTooLarge || n < keptTooLarge-len(one) {
			t.Errorf("%d bytes kept", n)
		}
		for i, m := range rec.Messages {
			if string(m.Raw)+"\n\n" != one || m.At == 0 {
				t.Fatalf("message %d is %q at %d", i, m.Raw, m.At)
			}
		}
		rec.Release()
	}
}

// TestErrorBodyThatNeverEnds: a status whose body drips holds a slot for a moment only; the part of the body that arrived is shown.
func TestErrorBodyThatNeverEnds(t *testing.T) {
	over := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 429 Slow Down\r\nContent-Length: 1000\r\n\r\nwait")
		<-over
	})
	defer close(over)
	c := mustClient(t, func(o *Options) { o.Timeout = time.Minute })
	c.doneWait = int64(20 * time.Millisecond)
	rec := do(c, &Request{Target: target})
	if wantError(t, rec, "Slow Down", 429); rec.Error.Message != "wait…" && rec.Error.Message != "wait" {
		t.Errorf("message %q", rec.Error.Message)
	}
	c = mustClient(t, func(o *Options) { o.Timeout = 50 * time.Millisecond }) // the request's own timeout comes first
	rec = do(c, &Request{Target: target})
	wantError(t, rec, ErrTimeout, 0)
}

// TestHeadThatDrips: headers that come byte by byte hold a slot for a bounded time, however long the request may take; a server that
// thinks before it answers, or between an interim answer and the final one, is waited for.
func TestHeadThatDrips(t *testing.T) {
	over := make(chan struct{})
	drips := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		for err := error(nil); err == nil; {
			_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nA: b")
			for ; err == nil; time.Sleep(5 * time.Millisecond) {
				_, err = io.WriteString(c, "b")
			}
		}
	})
	thinks := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 10")
		io.WriteString(c, "0 Continue\r\n\r\n")
		time.Sleep(1200 * time.Millisecond)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		<-over
	})
	defer close(over)
	c := mustClient(t, func(o *Options) { o.Timeout = time.Minute })
	c.headWait = int64(200 * time.Millisecond)
	rec := do(c, &Request{Target: drips})
	if wantError(t, rec, ErrTimeout, 0); !strings.Contains(rec.Error.Message, "did not end within 200ms of their first byte") {
		t.Errorf("message %q", rec.Error.Message)
	}
	c.headWait = int64(time.Second) // the interim answer comes in two writes, and a busy machine may put time between them
	if rec := do(c, &Request{Target: thinks}); rec.Error != nil {
		t.Errorf("a server that thinks: %+v", rec.Error)
	}
}

// TestFoldedHead: a head of folded lines is read in time that its length accounts for. The old reader copied the value for every line:
// 800,000 lines of a head that was refused only afterwards took minutes.
func TestFoldedHead(t *testing.T) {
	lines := maxHeaders - 2
	h, err := parseHead("HTTP/1.1 200 OK\r\nA: b\r\n" + strings.Repeat(" "+strings.Repeat("c", 200)+"\r\n", lines) + "\r\n")
	if err != nil || len(h.headers) != 1 || len(h.headers[0].Value) != 1+201*lines {
		t.Fatalf("%v, %d headers", err, len(h.headers))
	}
	if n := testing.AllocsPerRun(3, func() {
		parseHead("HTTP/1.1 200 OK\r\nA: b\r\n" + strings.Repeat(" c\r\n", lines) + "\r\n")
	}); n > 100 {
		t.Errorf("%v allocations for %d folded lines", n, lines)
	}
}

// TestTransferCodings: what is under the chunks is decoded, or refused by its name.
func TestTransferCodings(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, `{"a":1}`)
	z.Close()
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", zipped.Len(), zipped.String())
	for _, c := range []struct{ coding, body, want, says string }{
		{coding: "gzip, chunked", body: chunked, want: `{"a":1}`},
		{coding: "GZIP\r\nTransfer-Encoding: Chunked", body: chunked, want: `{"a":1}`},
		{coding: "gzip", body: zipped.String(), want: `{"a":1}`},
		{coding: "identity", body: `{"a":1}`, want: `{"a":1}`},
		{coding: "compress, chunked", says: `Transfer-Encoding "compress" is not supported`},
		{coding: "chunked, chunked", says: `Transfer-Encoding "chunked" is not supported`},
		{coding: "chunked, gzip", says: `Transfer-Encoding "chunked" is not supported`},
		{coding: strings.Repeat("gzip, ", 50) + "chunked", says: "more than 4 codings"},
	} {
		target := rawServer(t, func(conn *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: "+c.coding+"\r\n\r\n"+c.body)
		})
		rec := do(bounded(t), &Request{Target: target})
		switch {
		case c.says != "":
			if wantError(t, rec, ErrResponse, 0); !strings.Contains(rec.Error.Message, c.says) {
				t.Errorf("%s: %q", c.coding, rec.Error.Message)
			}
		case rec.Error != nil || len(rec.Messages) != 1 || string(rec.Messages[0].Raw) != c.want:
			t.Errorf("%s: %v, %v", c.coding, rec.Error, rec.Messages)
		}
	}
}

func TestBodyWithAByteOrderMark(t *testing.T) {
	rec := answer(t, &Request{}, jsonHead+"\n\xef\xbb\xbf{}")
	if rec.Error != nil || string(rec.Messages[0].Raw) != "{}" {
		t.Errorf("%v, %v", rec.Error, rec.Messages)
	}
}

func TestRedirectNamesItsTarget(t *testing.T) {
	rec := answer(t, &Request{}, "HTTP/1.1 307 Temporary Redirect\nLocation: https://u:p@h/v1?api_key=S3CR3T\nContent-Length: 4\n\n<p/>")
	wantError(t, rec, "Temporary Redirect", 307)
	if want := "The redirect to https://<redacted>@h/v1?api_key=<redacted> is not followed"; rec.Error.Message != want {
		t.Errorf("message %q", rec.Error.Message)
	}
	rec = answer(t, &Request{}, "HTTP/1.1 302 Found\nContent-Length: 2\n\nno")
	if wantError(t, rec, "Found", 302); rec.Error.Message != "no" {
		t.Errorf("message %q", rec.Error.Message)
	}
}

// TestResponseBeforeItsRequest: on a new connection it is an error; an idle connection that brings one is replaced.
func TestResponseBeforeItsRequest(t *testing.T) {
	answered := make(chan struct{}, 2)
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		io.WriteString(c, okAnswer)
		answered <- struct{}{}
		readRequest(r)
	})
	x := mustClient(t, nil).Prepare(context.Background(), &Request{Target: target, Armed: true})
	<-answered
	x.Send()
	rec := new(record.Record)
	x.Receive(rec, nil)
	if wantError(t, rec, ErrResponse, 0); rec.Error.Message != "The response came before its request was sent" || rec.Trace.SendStart != 0 {
		t.Errorf("%+v, sent at %d", rec.Error, rec.Trace.SendStart)
	}
}

// TestHTTP2Server: a server that speaks HTTP/2 is named as such, whether its first frame comes before the request or after it.
func TestHTTP2Server(t *testing.T) {
	const settings = "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00"
	for _, early := range []bool{false, true} {
		greeted := make(chan struct{}, 2)
		target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			if early {
				io.WriteString(c, settings)
			}
			greeted <- struct{}{}
			readRequest(r)
			if !early {
				io.WriteString(c, settings)
			}
		})
		x := mustClient(t, nil).Prepare(context.Background(), &Request{Target: target, Armed: true})
		<-greeted
		x.Send()
		rec := new(record.Record)
		x.Receive(rec, nil)
		if wantError(t, rec, ErrResponse, 0); rec.Error.Message != speaksHTTP2 {
			t.Errorf("early %t: %+v", early, rec.Error)
		}
	}
}

// TestFailureBeforeItsRequest: a server that refuses a request before it has seen it has answered, however fast it was.
func TestFailureBeforeItsRequest(t *testing.T) {
	answered := make(chan struct{}, 1)
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		io.WriteString(c, "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo long")
		answered <- struct{}{}
		readRequest(r)
	})
	x := mustClient(t, nil).Prepare(context.Background(), &Request{Target: target, Armed: true})
	<-answered
	x.Send()
	rec := new(record.Record)
	x.Receive(rec, nil)
	if wantError(t, rec, "Payload Too Large", 413); rec.Error.Message != "too long" || rec.Trace.SendStart == 0 {
		t.Errorf("%+v, sent at %d", rec.Error, rec.Trace.SendStart)
	}
}

// TestReasonPhrasesAreShort: a reason phrase is the type of an error; it does not fill tables.
func TestReasonPhrasesAreShort(t *testing.T) {
	rec := answer(t, &Request{}, "HTTP/1.1 500 %s\nContent-Length: 0\n\n", strings.Repeat("é", 50000))
	if n := len(rec.Error.Type); n > maxReason+3 || len(rec.Trace.StatusReason) > maxReason+3 {
		t.Errorf("a type of %d bytes", n)
	}
}
