package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"aiperf/internal/base/clock"
)

// The baselines of a schedule: what a single thread that does nothing else achieves on this machine. No client that sends from one thread can be
// better.

// bareThread waits for absolute instants: by sleeping, and with the spinning and the priority of the scheduler's own waiter.
func (b *suite) bareThread(rate, seconds int) {
	b.waitWith(clock.NewSleepingWaiter(), rate, seconds, "asleep")
	b.waitWith(clock.NewWaiter(), rate, seconds, "sleeping and spinning")
}

func (b *suite) waitWith(w clock.Waiter, rate, seconds int, how string) {
	w.Attach()
	defer w.Detach()
	var lags sample
	begin := clock.Now() + int64(10*time.Millisecond)
	for i := range rate * seconds {
		at := begin + int64(i)*int64(time.Second)/int64(rate)
		for !w.Until(at) {
		}
		lags.add(clock.Now() - at)
	}
	p50, p99, largest := lags.spread()
	b.row(fmt.Sprintf("%d/s, a bare thread %s", rate, how), "constant", p50, p99, largest, "", "", "", "", "the baseline")
}

// bareRequest returns a chat request with a prompt of the given number of bytes.
func bareRequest(addr string, prompt, tokens int, stream bool) []byte {
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}],"max_tokens":%d,"stream":%t}`, strings.Repeat("a", prompt), tokens, stream)
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", chatPath, addr, len(body), body)
}

// bareConns opens connections whose answers are read and discarded, and whose buffers take a whole request at once.
func bareConns(addr string, n int) (list []net.Conn, closeAll func(), err error) {
	closeAll = func() {
		for _, c := range list {
			_ = c.Close() // the connection is only written to
		}
	}
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		list = append(list, c)
		if err := c.(*net.TCPConn).SetWriteBuffer(4 << 20); err != nil {
			closeAll()
			return nil, nil, err
		}
		go io.Copy(io.Discard, c) //nolint:errcheck // it ends with the connection
	}
	return list, closeAll, nil
}

// bareBurst writes one request to each of n connections, and returns the time from the first write to the last.
func bareBurst(addr string, n int) (took int64, err error) {
	list, closeAll, err := bareConns(addr, n)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	request := bareRequest(addr, 64, 1, false)
	begin, last := clock.Now(), int64(0)
	for _, c := range list {
		last = clock.Now()
		if _, err := c.Write(request); err != nil {
			return 0, err
		}
	}
	return last - begin, nil
}

// bytesPerToken sizes the prompts of the bare replay.
const bytesPerToken = 4

// bareReplay writes the requests of a trace at its instants, on connections that were opened before.
func bareReplay(addr string, rows []traceRow, speed float64) (lags sample, err error) {
	connections := 0
	for i := 0; i < len(rows); {
		n := sameInstant(rows[i:])
		connections = max(connections, 4*n) // a connection is used again three batches later; by then it is idle or has answers queued, and both are fine
		i += n
	}
	list, closeAll, err := bareConns(addr, connections)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	w := clock.NewWaiter()
	w.Attach()
	defer w.Detach()
	begin, used := clock.Now()+int64(500*time.Millisecond), 0
	for i := 0; i < len(rows); {
		n := sameInstant(rows[i:])
		var requests [][]byte
		for _, r := range rows[i : i+n] {
			requests = append(requests, bareRequest(addr, r.Input*bytesPerToken, r.Output, true))
		}
		at := begin + int64((rows[i].Timestamp-rows[0].Timestamp)*1e6/speed)
		for !w.Until(at) {
		}
		for _, r := range requests {
			c := list[used%len(list)]
			used++
			lags.add(clock.Now() - at)
			if _, err := c.Write(r); err != nil {
				return nil, err
			}
		}
		i += n
	}
	return lags, nil
}

// traceRow is the part of a trace's row that the bare replay needs.
type traceRow struct {
	Timestamp float64 // ms
	Input     int     `json:"input_length"`
	Output    int     `json:"output_length"`
}

// sameInstant returns how many rows at the start share an instant.
func sameInstant(rows []traceRow) int {
	n := 1
	for n < len(rows) && rows[n].Timestamp == rows[0].Timestamp {
		n++
	}
	return n
}
