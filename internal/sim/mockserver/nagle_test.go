//go:build unix

package mockserver

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// nagle=true leaves Nagle's algorithm on, which Go turns off.
func TestNagle(t *testing.T) {
	for query, want := range map[string]int{"nagle=true&ttft=0": 0, "ttft=0": 1} {
		o, err := ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(o)
		if err == nil {
			err = s.Listen("127.0.0.1:0")
		}
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"a"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		s.mu.Lock()
		seen := 0
		for c := range s.conns {
			raw, err := c.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			raw.Control(func(fd uintptr) {
				got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
				if seen++; err != nil || (got != 0) != (want != 0) {
					t.Errorf("%s: TCP_NODELAY %d, %v", query, got, err)
				}
			})
		}
		s.mu.Unlock()
		if seen == 0 {
			t.Error("no connection was looked at")
		}
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
