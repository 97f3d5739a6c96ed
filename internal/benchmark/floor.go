package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// floor is the cheapest client that one can write in Go with its own network poller: raw sockets, one goroutine a stream, no HTTP library,
// no JSON, no stamps kept. It counts events and finds the end of each answer; that is all. Its cost is what everything else is
// compared with.
type floor struct {
	addr    string // host:port
	path    string
	body    string
	clients int
	want    int64 // requests in all

	left     atomic.Int64
	requests atomic.Int64
	events   atomic.Int64
}

// run sends all requests over f.clients keep-alive connections.
func (f *floor) run() error {
	f.left.Store(f.want)
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", f.path, f.addr, len(f.body), f.body)
	errs := make(chan error, f.clients)
	var wg sync.WaitGroup
	for range f.clients {
		wg.Go(func() { errs <- f.client([]byte(head)) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	eventMark = []byte("data: {")
	lastChunk = []byte("\r\n0\r\n\r\n")
)

func (f *floor) client(request []byte) error {
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 16<<10)
	for f.left.Add(-1) >= 0 {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := f.answer(conn, buf); err != nil {
			return err
		}
		f.requests.Add(1)
	}
	return nil
}

// answer reads one answer to its end: the last chunk, or Content-Length bytes.
func (f *floor) answer(conn net.Conn, buf []byte) error {
	n, length := 0, -1
	for {
		k, err := conn.Read(buf[n:])
		if err != nil {
			return fmt.Errorf("the server ended an answer early: %w", err)
		}
		f.events.Add(int64(bytes.Count(buf[n:n+k], eventMark)))
		n += k
		if length < 0 {
			length = bodyEnd(buf[:n])
		}
		if length > 0 && n >= length || length == 0 && bytes.HasSuffix(buf[:n], lastChunk) {
			return nil
		}
		if length == 0 && n > len(buf)/2 { // only the tail matters
			n = copy(buf, buf[n-len(lastChunk):n])
		}
	}
}

// bodyEnd returns where an answer of known length ends, 0 for a chunked one, -1 while its head is not complete.
func bodyEnd(answer []byte) int {
	head, _, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	if !ok {
		return -1
	}
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "content-length") {
			var n int
			if _, err := fmt.Sscan(value, &n); err == nil {
				return len(head) + 4 + n
			}
		}
	}
	return 0
}
