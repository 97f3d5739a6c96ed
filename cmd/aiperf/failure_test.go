//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// wire is a server that does one thing with every connection once a request has come, and then closes it.
func wire(t *testing.T, do func(c *net.TCPConn)) string {
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
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err == nil {
					io.Copy(io.Discard, r.Body)
					do(c.(*net.TCPConn))
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// says is a server that answers with these bytes.
func says(t *testing.T, text string) string {
	return wire(t, func(c *net.TCPConn) { io.WriteString(c, text) })
}

const (
	sse   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	event = `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"well"}}]}` + "\n\n"
)

// chunk is one chunk of a chunked body.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// deadPort is a port where nobody listens, and nobody can: it is this end of a connection.
func deadPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return "http://" + c.LocalAddr().String()
}

// TestEveryRequestFails: whatever is wrong with the server, there are all files, the distinct errors and status 1, in bounded time.
func TestEveryRequestFails(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const n = 6
	for _, c := range []struct {
		name string
		url  func(t *testing.T) string
		want string // type of the error; "" = it depends on how far the client had come
		code int
		args []string
	}{
		{"refused", deadPort, "ClientConnectorError", 0, nil},
		{"no such name", func(*testing.T) string { return "http://no-such-host.invalid" }, "ClientConnectorDNSError", 0, nil},
		{"status 500", func(t *testing.T) string {
			return says(t, "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 4\r\n\r\nboom")
		}, "Internal Server Error", 500, nil},
		{"redirect", func(t *testing.T) string {
			return says(t, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere.invalid/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}, "Temporary Redirect", 307, nil},
		{"closes without an answer", func(t *testing.T) string { return wire(t, func(*net.TCPConn) {}) }, "ServerDisconnectedError", 0, nil},
		{"resets", func(t *testing.T) string { return wire(t, func(c *net.TCPConn) { c.SetLinger(0) }) }, "ClientOSError", 0, nil},
		{"not HTTP", func(t *testing.T) string { return says(t, "SSH-2.0-OpenSSH_9.9\r\n\r\n") }, "ClientResponseError", 0, nil},
		{"closes in the stream", func(t *testing.T) string { return says(t, sse+"Transfer-Encoding: chunked\r\n\r\n"+chunk(event)) }, "ClientPayloadError", 0, nil},
		{"closes at another place each time", func(t *testing.T) string {
			var calls atomic.Int32
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, sse+"Transfer-Encoding: chunked\r\n\r\n"+chunk(strings.Repeat(event, int(calls.Add(1)))))
			})
		}, "ClientPayloadError", 0, []string{"--concurrency", "1"}},
		{"resets in the stream", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, sse+"Content-Length: 100000\r\n\r\n"+event)
				c.SetLinger(0)
			})
		}, "", 0, nil},
		{"an error in the stream", func(t *testing.T) string {
			return says(t, sse+"\r\n"+event+`data: {"error":{"message":"out of memory","code":503}}`+"\n\n")
		}, "SSEResponseError", 503, nil},
		{"stalls before the answer", func(t *testing.T) string { return wire(t, untilGone) }, "TimeoutError", 0, []string{"--request-timeout-seconds", "2"}},
		{"stalls in the stream", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, sse+"Content-Length: 100000\r\n\r\n"+event)
				untilGone(c)
			})
		}, "TimeoutError", 0, []string{"--request-timeout-seconds", "2", "--no-server-metrics"}},
		{"trickles", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, sse+"Content-Length: 100000\r\n\r\n")
				forever(c, "x")
			})
		}, "TimeoutError", 0, []string{"--request-timeout-seconds", "2"}},
		{"a stream without end", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, sse+"\r\n")
				forever(c, event)
			})
		}, "TimeoutError", 0, []string{"--request-timeout-seconds", "2", "--no-server-metrics"}},
		{"headers without end", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) {
				io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for err := error(nil); err == nil; {
					_, err = io.WriteString(c, strings.Repeat("X-Again: yes\r\n", 1000))
				}
			})
		}, "ClientResponseError", 0, nil},
		{"interim answers without end", func(t *testing.T) string {
			return wire(t, func(c *net.TCPConn) { forever(c, "HTTP/1.1 100 Continue\r\n\r\n") })
		}, "ClientResponseError", 0, nil},
		{"an empty stream", func(t *testing.T) string { return says(t, sse+"\r\ndata: [DONE]\n\n") }, "", 0, nil},
		{"an empty body", func(t *testing.T) string {
			return says(t, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}, "", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := towards(c.url(t), "--streaming", "--request-count", fmt.Sprint(n))
			if c.args == nil || c.args[0] != "--concurrency" {
				args = append(args, "--concurrency", fmt.Sprint(n))
			}
			p := program(t, append(args, c.args...)...)
			if got := p.run(); got != 1 {
				t.Errorf("exit status %d, want 1", got)
			}
			p.complete(n)
			groups := map[string]bool{}
			for _, l := range p.records() {
				if l.Error == nil || c.want != "" && l.Error.Type != c.want || c.code != 0 && l.Error.Code != c.code {
					t.Errorf("error %+v, want %d %s", l.Error, c.code, c.want)
					continue
				}
				if c.want == "TimeoutError" && !strings.HasPrefix(l.Error.Message, "the request timeout of 2s passed while ") {
					t.Errorf("message %q", l.Error.Message)
				}
				groups[l.Error.Type+": "+l.Error.Message] = true
			}
			if c.want != "" && len(groups) != 1 {
				t.Errorf("equal failures make %d groups: %v", len(groups), groups)
			}
			if got := p.summary().avg(t, "error_request_count"); got != n {
				t.Errorf("error_request_count %v, want %d", got, n)
			}
			if got := p.summary().verdict(t); got != "no result" {
				t.Errorf("verdict %q", got)
			}
			if text := p.stderr.String(); !strings.Contains(text, fmt.Sprintf("error: all %d requests failed: %d × ", n, n)) || !strings.Contains(text, c.want) {
				t.Errorf("stderr does not name the errors:\n%s", text)
			}
			if !strings.Contains(p.stdout.String(), "Error Summary") {
				t.Errorf("the report has no table of errors:\n%s", p.stdout.String())
			}
		})
	}
}

// untilGone waits for the client to give up.
func untilGone(c *net.TCPConn) {
	c.SetReadDeadline(time.Now().Add(patience))
	io.Copy(io.Discard, c)
}

// forever repeats a text, a thousand times a second, until the client gives up.
func forever(c *net.TCPConn, text string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for err := error(nil); err == nil; <-tick.C {
		_, err = io.WriteString(c, text)
	}
}

// TestManyErrors: ten thousand failures in a row are quick and small.
func TestManyErrors(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const n = 10_000
	p := program(t, towards(deadPort(t), "--concurrency", "50", "--request-count", fmt.Sprint(n))...)
	from := time.Now()
	if got := p.run(); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	t.Logf("%v", time.Since(from))
	p.complete(n)
	if ru, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.Logf("largest resident set %d, %v of processor time", ru.Maxrss, p.cmd.ProcessState.UserTime())
		if ru.Maxrss > 512<<10 && ru.Maxrss < 1<<30 { // kB; other systems count bytes
			t.Errorf("the resident set grew to %d kB", ru.Maxrss)
		}
	}
}

// TestServerDies: a server that is killed in the middle leaves a report of what it answered and of what it did not.
func TestServerDies(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	truth := filepath.Join(t.TempDir(), "truth.jsonl")
	server := command(t, "mock-server", "--port=0", "--ttft=1ms", "--itl=1ms", "--tokens=20", "--truth-log="+truth)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill() })
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(first)
	p := program(t, towards(words[len(words)-1], "--streaming", "--concurrency", "4", "--request-count", "5000", "--failed-request-threshold", "1")...)
	p.start()
	until(t, "a record", func() bool { return len(p.grown()) > 0 })
	server.Process.Kill()
	server.Wait()
	if got := p.wait(); got != 0 {
		t.Errorf("exit status %d, want 0: some requests were answered\n%s", got, p.stderr.String())
	}
	p.complete(5000)
	s := p.summary()
	if ok, bad := s.avg(t, "request_count"), s.avg(t, "error_request_count"); ok == 0 || bad == 0 || ok+bad != 5000 {
		t.Errorf("%v answered and %v failed of 5000", ok, bad)
	}
}
