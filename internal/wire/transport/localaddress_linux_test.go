package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/measure/record"
)

// TestLocalAddresses: connections leave from the local addresses in turn, and an address of the other IP version is passed over.
func TestLocalAddresses(t *testing.T) {
	var mu sync.Mutex
	var from []string
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		mu.Lock()
		from = append(from, c.RemoteAddr().(*net.TCPAddr).IP.String())
		mu.Unlock()
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	o := DefaultOptions()
	o.Reuse = Never
	for _, text := range []string{"127.0.0.3", "::1", "127.0.0.4"} {
		o.LocalAddresses = append(o.LocalAddresses, netip.MustParseAddr(text))
	}
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 4 {
		var rec record.Record
		client.Do(context.Background(), &Request{Target: target}, &rec, nil)
		if rec.Error != nil || rec.Trace.LocalIP != "127.0.0.3" && rec.Trace.LocalIP != "127.0.0.4" {
			t.Errorf("%+v, from %s", rec.Error, rec.Trace.LocalIP)
		}
	}
	if want := []string{"127.0.0.3", "127.0.0.4", "127.0.0.3", "127.0.0.4"}; !slices.Equal(from, want) {
		t.Errorf("the server saw %v, want %v", from, want)
	}
}

// TestNoLocalAddress: without an address of the server's IP version the request fails and says so.
func TestNoLocalAddress(t *testing.T) {
	o := DefaultOptions()
	o.LocalAddresses = []netip.Addr{netip.MustParseAddr("::1")}
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	target, err := NewTarget("http://127.0.0.1:9/")
	if err != nil {
		t.Fatal(err)
	}
	var rec record.Record
	client.Do(context.Background(), &Request{Target: target}, &rec, nil)
	if rec.Error == nil || !strings.Contains(rec.Error.Message, "no local address has the IP version of 127.0.0.1") {
		t.Errorf("%+v", rec.Error)
	}
}
