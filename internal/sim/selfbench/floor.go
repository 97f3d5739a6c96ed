package main

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// target is the work of a baseline: a total number of requests from a number of clients, each of which sends one after the other.
type target struct {
	addr     string // host:port
	body     string
	clients  int
	requests int64
}

// args returns the arguments of a child that plays a baseline; parseTarget parses them.
func (t target) args(role string) []string {
	return []string{role, t.addr, t.body, strconv.Itoa(t.clients), strconv.FormatInt(t.requests, 10)}
}

func parseTarget(args []string) (t target, err error) {
	if len(args) != 4 {
		return t, fmt.Errorf("expected address, body, clients and requests, got %q", args)
	}
	t.addr, t.body = args[0], args[1]
	if t.clients, err = strconv.Atoi(args[2]); err == nil {
		t.requests, err = strconv.ParseInt(args[3], 10, 64)
	}
	return t, err
}

// each runs all clients and returns the first error.
func (t target) each(client func(next func() bool) error) error {
	var left atomic.Int64
	left.Store(t.requests)
	next := func() bool { return left.Add(-1) >= 0 }
	errs := make(chan error, t.clients)
	var all sync.WaitGroup
	for range t.clients {
		all.Go(func() { errs <- client(next) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// floor is the cheapest client that can be written in Go with its network poller: raw sockets, one goroutine per stream, no HTTP library, no JSON, no
// stamps. It only counts events and finds the end of each answer.
type floor struct {
	request []byte
	addr    string
	events  atomic.Int64
}

func playFloor(args []string) error {
	t, err := parseTarget(args)
	if err != nil {
		return err
	}
	f := &floor{addr: t.addr, request: fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", chatPath, t.addr, len(t.body), t.body)}
	err = t.each(f.client)
	fmt.Println(f.events.Load(), "events")
	return err
}

const chatPath = "/v1/chat/completions"

var (
	eventMark = []byte("data: {")
	lastChunk = []byte("\r\n0\r\n\r\n")
)

func (f *floor) client(next func() bool) error {
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 64<<10)
	for next() {
		if _, err := conn.Write(f.request); err != nil {
			return err
		}
		if err := f.answer(conn, buf); err != nil {
			return err
		}
	}
	return nil
}

// answer reads one answer to its end: the last chunk, or Content-Length bytes.
func (f *floor) answer(conn net.Conn, buf []byte) error {
	kept, total, length := 0, 0, unknown
	for {
		k, err := conn.Read(buf[kept:])
		if err != nil {
			return fmt.Errorf("the server ended an answer early: %w", err)
		}
		f.events.Add(int64(bytes.Count(buf[kept:kept+k], eventMark)))
		kept, total = kept+k, total+k
		if length == unknown {
			length = answerLength(buf[:kept])
		}
		switch {
		case length > 0 && total >= length, length == chunked && bytes.HasSuffix(buf[:kept], lastChunk):
			return nil
		case length != unknown: // only the tail matters
			n := min(kept, len(lastChunk))
			kept = copy(buf, buf[kept-n:kept])
		}
	}
}

// Lengths of answers that are not a number of bytes.
const (
	unknown = -1 // the head is incomplete
	chunked = 0
)

// answerLength returns the number of bytes of an answer, including its head.
func answerLength(answer []byte) int {
	head, _, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	if !ok {
		return unknown
	}
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && strings.EqualFold(name, "content-length") {
			return len(head) + 4 + n
		}
	}
	return chunked
}
