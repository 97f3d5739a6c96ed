package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/transport"
)

// peer is a server that writes the frames that a test chooses.
type peer struct {
	*http2.Framer
	conn   net.Conn
	stream uint32 // id of the request
}

// block encodes headers, given as names and values.
func block(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}) // a buffer accepts everything
	}
	return b.Bytes()
}

// head writes headers; the last ones end the stream.
func (p *peer) head(last bool, pairs ...string) {
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: block(pairs...), EndHeaders: true, EndStream: last}) // the client sees what is missing
}

// begin writes the headers of a normal answer and one message.
func (p *peer) begin() {
	p.head(false, ":status", "200", "content-type", "application/grpc")
	p.message("one")
}

func (p *peer) message(text string) { p.bytes(string(grpcwire.AppendMessage(nil, []byte(text)))) }

func (p *peer) bytes(b string) { _ = p.WriteData(p.stream, false, []byte(b)) } // as above

// leave ends what the peer writes. It continues to read: if bytes of the client were unread, the system would reset the connection.
func (p *peer) leave() { _ = p.conn.(*net.TCPConn).CloseWrite() } // as above

// answerWith starts a server whose connections answer their first request with frames, and then read until the client leaves.
func answerWith(t *testing.T, answer func(*peer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveFrames(c, answer)
		}
	}()
	return l.Addr().String()
}

func serveFrames(c net.Conn, answer func(*peer)) {
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	p := &peer{Framer: http2.NewFramer(c, c), conn: c}
	if p.WriteSettings() != nil {
		return
	}
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		if d, ok := f.(*http2.DataFrame); ok && d.StreamEnded() {
			p.stream = d.StreamID
			answer(p)
		}
	}
}

// outcome is how a call ended, and its messages.
func outcome(messages []string, err error) string {
	if err == nil {
		return fmt.Sprintf("%q OK", messages)
	}
	s := status.Convert(err)
	return fmt.Sprintf("%q %d %s", messages, s.Code(), s.Message())
}

// callByLibrary makes a call with grpc-go.
func callByLibrary(t *testing.T, address string) string {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry(), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/p.S/M")
	if err != nil {
		return outcome(nil, err)
	}
	if err := s.SendMsg([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for {
		var m []byte
		if err := s.RecvMsg(&m); errors.Is(err, io.EOF) {
			return outcome(messages, nil)
		} else if err != nil {
			return outcome(messages, err)
		}
		messages = append(messages, string(m))
	}
}

// callByUs makes the same call with this package.
func callByUs(t *testing.T, address string) string {
	t.Helper()
	c := client(t, func(o *transport.Options) { o.Timeout = 10 * time.Second })
	x := prepared(t, c, "grpc://"+address+"/p.S/M")
	x.launch()
	defer x.end()
	var messages []string
	for {
		m, err := x.stream.recv()
		if errors.Is(err, io.EOF) {
			return outcome(messages, nil)
		}
		var s *grpcwire.Status
		if errors.As(err, &s) {
			return fmt.Sprintf("%q %d %s", messages, s.Code, s.Message)
		}
		messages = append(messages, string(m))
	}
}

// TestEndsLikeTheLibrary: however a server ends a call, it has the same messages, code and text as with grpc-go.
func TestEndsLikeTheLibrary(t *testing.T) {
	for name, answer := range map[string]func(*peer){
		"fine":           func(p *peer) { p.begin(); p.head(true, "grpc-status", "0") },
		"error":          func(p *peer) { p.begin(); p.head(true, "grpc-status", "8", "grpc-message", "%C3%A9 50%25 %zz") },
		"unknown code":   func(p *peer) { p.begin(); p.head(true, "grpc-status", "99", "grpc-message", "x") },
		"negative code":  func(p *peer) { p.begin(); p.head(true, "grpc-status", "-1", "grpc-message", "x") },
		"no code":        func(p *peer) { p.begin(); p.head(true, "other", "x") },
		"malformed code": func(p *peer) { p.begin(); p.head(true, "grpc-status", "x") },
		"trailers only": func(p *peer) {
			p.head(true, ":status", "200", "content-type", "application/grpc", "grpc-status", "5", "grpc-message", "no model")
		},
		"trailers only, OK": func(p *peer) { p.head(true, ":status", "200", "content-type", "application/grpc", "grpc-status", "0") },
		"+proto": func(p *peer) {
			p.head(false, ":status", "200", "content-type", "application/grpc+proto")
			p.head(true, "grpc-status", "0")
		},
		"html 404": func(p *peer) {
			p.head(false, ":status", "404", "content-type", "text/html")
			_ = p.WriteData(p.stream, true, []byte("<p>none"))
		},
		"html 502, trailers": func(p *peer) {
			p.head(false, ":status", "502", "content-type", "text/html")
			p.bytes("bad")
			p.head(true, "x", "y")
		},
		"401, no body":       func(p *peer) { p.head(true, ":status", "401") },
		"400":                func(p *peer) { p.head(true, ":status", "400") },
		"403":                func(p *peer) { p.head(true, ":status", "403") },
		"429":                func(p *peer) { p.head(true, ":status", "429") },
		"418":                func(p *peer) { p.head(true, ":status", "418") },
		"200 without a type": func(p *peer) { p.head(true, ":status", "200") },
		"no status":          func(p *peer) { p.head(true, "content-type", "text/html") },
		"long html": func(p *peer) {
			p.head(false, ":status", "503", "content-type", "text/html")
			p.bytes(strings.Repeat("x", 3000))
		},
		"100 first":      func(p *peer) { p.head(false, ":status", "100"); p.begin(); p.head(true, "grpc-status", "0") },
		"100 last":       func(p *peer) { p.head(true, ":status", "100") },
		"odd status":     func(p *peer) { p.head(true, ":status", "abc") },
		"no trailers":    func(p *peer) { p.begin(); _ = p.WriteData(p.stream, true, nil) },
		"half a message": func(p *peer) { p.begin(); p.bytes("\x00\x00"); p.head(true, "grpc-status", "0") },
		"half, then an error": func(p *peer) {
			p.begin()
			p.bytes("\x00\x00\x00\x00\x09x")
			p.head(true, "grpc-status", "8", "grpc-message", "full")
		},
		"compressed, no name": func(p *peer) { p.begin(); p.bytes("\x01\x00\x00\x00\x01x") },
		"compressed": func(p *peer) {
			p.head(false, ":status", "200", "content-type", "application/grpc", "grpc-encoding", "gzip")
			p.bytes("\x01\x00\x00\x00\x01x")
		},
		"odd format":    func(p *peer) { p.begin(); p.bytes("\x07\x00\x00\x00\x01x") },
		"headers twice": func(p *peer) { p.begin(); p.head(false, "x", "y") },
		"malformed bin": func(p *peer) { p.head(false, ":status", "200", "content-type", "application/grpc", "x-bin", "%%%") },
		"padded": func(p *peer) {
			p.begin()
			_ = p.WriteDataPadded(p.stream, false, grpcwire.AppendMessage(nil, []byte("two")), make([]byte, 99))
			p.head(true, "grpc-status", "0")
		},
		"ping, settings": func(p *peer) {
			p.begin()
			_ = p.WritePing(false, [8]byte{1})
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 9})
			p.head(true, "grpc-status", "0")
		},
		"goaway, goes on": func(p *peer) {
			_ = p.WriteGoAway(p.stream, http2.ErrCodeNo, nil)
			p.begin()
			p.head(true, "grpc-status", "0")
		},
		"closed":                func(p *peer) { p.begin(); p.leave() },
		"closed, half a frame":  func(p *peer) { p.begin(); _, _ = p.conn.Write([]byte{0, 0}); p.leave() },
		"oversized frame":       func(p *peer) { p.begin(); _ = p.WriteRawFrame(http2.FrameData, 0, p.stream, make([]byte, 20000)) },
		"window update of zero": func(p *peer) { p.begin(); _ = p.WriteRawFrame(http2.FrameWindowUpdate, 0, p.stream, make([]byte, 4)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := answerWith(t, answer)
			want := callByLibrary(t, address)
			if got := callByUs(t, address); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
	for code := http2.ErrCodeNo; code <= http2.ErrCodeHTTP11Required+1; code++ {
		t.Run("reset "+code.String(), func(t *testing.T) {
			t.Parallel()
			address := answerWith(t, func(p *peer) { p.begin(); _ = p.WriteRSTStream(p.stream, code) })
			want := callByLibrary(t, address)
			if got := callByUs(t, address); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

// TestMetadata: headers go both ways, those with bytes in base64; a header that cannot be sent is an error before anything is sent.
func TestMetadata(t *testing.T) {
	at := "grpc://" + serve(t, func(s grpc.ServerStream) error {
		md, _ := metadata.FromIncomingContext(s.Context())
		var in []byte
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		if err := s.SetHeader(metadata.Pairs("h-bin", "\x00\xff", "z", "1", "a", "2", "z", "3")); err != nil {
			return err
		}
		s.SetTrailer(metadata.Pairs("t-bin", "\x01"))
		return s.SendMsg([]byte(fmt.Sprintf("%q", md.Get("x-data-bin"))))
	}) + "/p.S/Stream"
	with := func(value string) func(*transport.Request) {
		return func(r *transport.Request) {
			r.Headers = []record.Header{{Name: "X-Data-Bin", Value: "\x00\xff"}, {Name: "Plain", Value: value}}
		}
	}
	rec := send(t, client(t, nil), at, "a", with("x"))
	if rec.Error != nil || string(rec.Messages[0].Raw) != `data: ["\x00\xff"]` {
		t.Errorf("%+v", rec)
	}
	if got := fmt.Sprintf("%q", rec.ResponseHeaders); got != `[{"a" "2"} {"content-type" "application/grpc"} {"h-bin" "\x00\xff"} {"z" "1"} {"z" "3"} {"t-bin" "\x01"}]` {
		t.Error(got)
	}
	rec = send(t, client(t, nil), at, "a", with("\n"))
	if rec.Error == nil || rec.Error.Type != "INTERNAL" || rec.Error.Message != `header key "plain" contains value with non-printable ASCII characters` {
		t.Errorf("%+v", rec.Error)
	}
}

// TestWindows: requests and answers that are larger than every window pass, in frames of the size that the server allows.
func TestWindows(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 3<<20/16)
	at := "grpc://" + serve(t, func(s grpc.ServerStream) error {
		for {
			var in []byte
			if err := s.RecvMsg(&in); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.SendMsg(bytes.Repeat(in, 12)); err != nil { // 36 MB: more than the window of a stream
				return err
			}
		}
	}, grpc.InitialWindowSize(1<<16), grpc.InitialConnWindowSize(1<<16)) + "/p.S/Stream"
	for _, body := range []string{big, big + "\n" + big} {
		c := client(t, func(o *transport.Options) { o.MaxResponse = 1 << 30 })
		rec := send(t, c, at, body, nil)
		if rec.Error != nil || len(rec.Messages) != 1+strings.Count(body, "\n") {
			t.Fatalf("%+v, %d messages", rec.Error, len(rec.Messages))
		}
		for _, m := range rec.Messages {
			if string(m.Raw) != "data: "+strings.Repeat(big, 12) {
				t.Errorf("a message of %d bytes differs", len(m.Raw))
			}
		}
	}
}

// TestServerThatStopsReading: a request that the server does not read ends at its timeout.
func TestServerThatStopsReading(t *testing.T) {
	testhome.Slow(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}) // the client sees what is missing
		_ = f.WriteWindowUpdate(0, 1<<30)
		<-t.Context().Done()
		c.Close()
	}()
	c := client(t, func(o *transport.Options) { o.Timeout = time.Second })
	rec := send(t, c, "grpc://"+l.Addr().String()+"/p.S/Stream", strings.Repeat("x", 64<<20), nil)
	if rec.Error == nil || rec.Error.Type != transport.ErrTimeout || rec.End-rec.Start > int64(5*time.Second) {
		t.Errorf("%+v after %v", rec.Error, time.Duration(rec.End-rec.Start))
	}
	if n := c.Wire().Stats().OpenConns; n != 0 {
		t.Errorf("%d connections are open", n)
	}
}

// TestSlowStartOfHTTP2: a server that sends its settings late makes the connection slow. That is neither a late answer nor a delay of this client.
func TestSlowStartOfHTTP2(t *testing.T) {
	const late = 60 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				time.Sleep(late)
				serveFrames(c, func(p *peer) {
					p.begin()
					p.head(true, "grpc-status", "0")
				})
			}()
		}
	}()
	c := client(t, func(o *transport.Options) { o.Reuse = transport.Never })
	rec := send(t, c, "grpc://"+l.Addr().String()+"/p.S/Stream", "a", func(r *transport.Request) { r.Armed = false })
	if rec.Error != nil || rec.Messages[0].At-rec.Start < int64(late) {
		t.Fatalf("%+v %+v", rec.Error, rec.Messages)
	}
	if tr := rec.Trace; tr.ConnectEnd-tr.ConnectStart < int64(late) || tr.ConnectEnd > tr.SendStart || tr.SendUncertainNs > int64(late/2) {
		t.Errorf("connected from %d to %d, sent at %d, uncertain by %v", tr.ConnectStart, tr.ConnectEnd, tr.SendStart, time.Duration(tr.SendUncertainNs))
	}
}
