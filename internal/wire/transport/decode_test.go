package transport

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"aiperf/internal/measure/record"
)

// squeezer compresses and can be flushed.
type squeezer interface {
	io.WriteCloser
	Flush() error
}

// squeezers compress with the content codings that the client decodes, by name; "raw" is deflate without the head of zlib.
var squeezers = map[string]func(io.Writer) squeezer{
	"gzip":    func(w io.Writer) squeezer { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) squeezer { return zlib.NewWriter(w) },
	"raw": func(w io.Writer) squeezer {
		z, _ := flate.NewWriter(w, flate.DefaultCompression)
		return z
	},
	"br": func(w io.Writer) squeezer { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) squeezer {
		z, _ := zstd.NewWriter(w)
		return z
	},
}

func squeeze(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	z := squeezers[name](&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Flushed data are returned and stamped at once, with any compression: the server continues only after that.
func TestCompressedStreams(t *testing.T) {
	for name, open := range squeezers {
		got := make(chan struct{}, 3)
		coding := name
		if name == "raw" {
			coding = "deflate"
		}
		target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nContent-Encoding: "+coding+"\r\n\r\n")
			z := open(c)
			for i := range 3 {
				fmt.Fprintf(z, "data: %d\n\n", i)
				z.Flush()
				select {
				case <-got:
				case <-time.After(20 * time.Second):
					t.Errorf("%s: message %d was not given", name, i)
				}
			}
			z.Close()
		})
		rec := new(record.Record)
		mustClient(t, nil).Do(context.Background(), &Request{Target: target, Body: record.Plain([]byte("{}"))}, rec, func([]record.Message) *record.Error {
			got <- struct{}{}
			return nil
		})
		if rec.Error != nil || len(rec.Messages) != 3 {
			t.Errorf("%s: %+v, %d messages", name, rec.Error, len(rec.Messages))
			continue
		}
		for i := 1; i < 3; i++ {
			if d := rec.Messages[i].At - rec.Messages[i-1].At; d <= 0 {
				t.Errorf("%s: message %d came %v behind the one before", name, i, time.Duration(d))
			}
		}
		if want := 3 * len("data: 0\n\n"); rec.Trace.BytesReceived != want {
			t.Errorf("%s: %d bytes received, want %d: they count inflated", name, rec.Trace.BytesReceived, want)
		}
	}
}

// Bytes that are not compressed data, compressed data that is cut, and a little that becomes a lot.
func TestBadCompressedBodies(t *testing.T) {
	for name := range squeezers {
		if name == "raw" {
			continue // zeros are a stored block of it
		}
		whole := squeeze(t, name, `{"text":"a text that is long enough to be cut in the middle of it"}`)
		wantError(t, do(mustClient(t, nil), &Request{Target: encoded(t, name, bytes.Repeat([]byte{0xff}, 300))}), ErrEncoding, 0)
		wantError(t, do(mustClient(t, nil), &Request{Target: encoded(t, name, whole[:len(whole)/2])}), ErrPayload, 0)
		bomb := squeeze(t, name, string(make([]byte, 4<<20)))
		rec := do(bounded(t), &Request{Target: encoded(t, name, bomb)})
		if wantError(t, rec, ErrPayload, 0); kept(rec) > 2<<20 {
			t.Errorf("%s: %d bytes kept of %d that became 4 MiB", name, kept(rec), len(bomb))
		}
	}
}

// encoded is a server that answers with a JSON body in a content coding.
func encoded(t *testing.T, coding string, body []byte) *Target {
	return rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body)
	})
}
