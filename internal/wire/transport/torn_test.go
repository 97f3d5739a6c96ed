package transport

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestTornTLS: an answer that ends with its connection has failed where TLS did not end first, unless it shows that it is whole.
func TestTornTLS(t *testing.T) {
	cert := certificate(t)
	for name, c := range map[string]struct {
		kind, body string
		closes     bool // by close_notify
		fails      bool
	}{
		"events, cut":        {"text/event-stream", "data: {\"a\":1}\n\ndata: {\"a\"", false, true},
		"events, between":    {"text/event-stream", "data: {\"a\":1}\n\n", false, true},
		"events with an end": {"text/event-stream", "data: {\"a\":1}\n\ndata: [DONE]\n\n", false, false},
		"events, closed":     {"text/event-stream", "data: {\"a\":1}\n\n", true, false},
		"JSON, cut":          {"application/json", `{"a":`, false, true},
		"JSON, whole":        {"application/json", `{"a":1}`, false, false},
		"JSON, closed":       {"application/json", `{"a":`, true, false}, // the endpoint tells what it lacks
	} {
		t.Run(name, func(t *testing.T) {
			target := rawServer(t, func(conn *net.TCPConn, _ *bufio.Reader) {
				over := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
				if _, ok := readRequest(bufio.NewReader(over)); !ok {
					return
				}
				io.WriteString(over, "HTTP/1.1 200 OK\r\nContent-Type: "+c.kind+"\r\nConnection: close\r\n\r\n"+c.body)
				if c.closes {
					over.Close()
				}
				conn.CloseWrite()
			})
			client := mustClient(t, func(o *Options) { o.TLS.Insecure = true })
			rec := do(client, &Request{Target: mustTarget(t, "https://"+target.Address()), Body: record.Plain([]byte("{}"))})
			if failed := rec.Error != nil; failed != c.fails || failed && !strings.Contains(rec.Error.Message, "without close_notify") {
				t.Errorf("%+v", rec.Error)
			}
		})
	}
}
