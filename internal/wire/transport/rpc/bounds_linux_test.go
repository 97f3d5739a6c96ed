package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// notedConn is the server's side of a connection. It notes, for every write, the instant before it and an instant at which the kernel had sent it.
type notedConn struct {
	net.Conn
	mu     sync.Mutex
	writes []notedWrite
}

type notedWrite struct {
	bytes         []byte
	before, after int64
}

// Write implements net.Conn.
func (c *notedConn) Write(b []byte) (int, error) {
	w := notedWrite{bytes: bytes.Clone(b), before: clock.Now()}
	n, err := c.Conn.Write(b)
	if err == nil {
		err = c.sent()
	}
	w.after = clock.Now()
	c.mu.Lock()
	c.writes = append(c.writes, w)
	c.mu.Unlock()
	return n, err
}

// sent waits until the kernel has sent everything that was written. It holds bytes back while the congestion window is full, which happens when a
// client that was delayed acknowledges late. An error is returned after 10 s.
func (c *notedConn) sent() error {
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	for range 100_000 {
		unsent, ioctl := 0, error(nil)
		if err := raw.Control(func(fd uintptr) { unsent, ioctl = unix.IoctlGetInt(int(fd), unix.SIOCOUTQNSD) }); err != nil || ioctl != nil {
			return errors.Join(err, ioctl)
		}
		if unsent == 0 {
			return nil
		}
		time.Sleep(100 * time.Microsecond)
	}
	return errors.New("the kernel sent nothing for 10 s")
}

// of is the write that ended a message.
func (c *notedConn) of(t *testing.T, text string) notedWrite {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.writes {
		if bytes.Contains(w.bytes, []byte(text)) {
			return w
		}
	}
	t.Fatalf("%q was not written in one piece", text)
	return notedWrite{}
}

// notingListener makes its connections note their writes.
type notingListener struct {
	net.Listener
	conns chan *notedConn
}

// Accept implements net.Listener.
func (l *notingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := &notedConn{Conn: c}
	l.conns <- n
	return n, nil
}

// TestBoundsContainTheArrival: whether the reader keeps up or is often delayed by 20 ms, every message came between the two instants that its
// record states, as the server's own writes tell. A reader that was delayed knows some messages only approximately. On a crowded machine about one
// message in a thousand reaches its socket later than the bounds allow for (deliveryTime of package transport), so a run with such a message is made
// again, twice at most.
func TestBoundsContainTheArrival(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		for _, userStamps := range []bool{false, true} {
			t.Run(fmt.Sprintf("stalled=%v/user=%v", stalled, userStamps), func(t *testing.T) {
				for attempt := 1; ; attempt++ {
					outside := outsideBounds(t, stalled, userStamps)
					if len(outside) == 0 {
						return
					}
					if attempt == 3 {
						t.Fatalf("messages lie outside their bounds in three runs; in the last one:\n%s", strings.Join(outside, "\n"))
					}
				}
			})
		}
	}
}

// outsideBounds streams 200 messages and describes those that came before or after their bounds.
func outsideBounds(t *testing.T, stalled, userStamps bool) (outside []string) {
	const events = 200
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &notingListener{inner, make(chan *notedConn, 1)}
	s := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		var in []byte
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		for i := range events {
			if err := s.SendMsg([]byte(fmt.Sprintf("event %03d", i))); err != nil {
				return err
			}
			if i%3 > 0 { // some share a write
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	}))
	over := make(chan struct{})
	go func() { defer close(over); _ = s.Serve(l) }()
	defer func() { s.Stop(); <-over }()

	c := client(t, func(o *transport.Options) { o.UserStamps = userStamps })
	target, err := transport.NewTarget("grpc://" + inner.Addr().String() + "/p.S/Stream")
	if err != nil {
		t.Fatal(err)
	}
	x := c.Prepare(t.Context(), &transport.Request{Target: target, Armed: true, Body: record.Plain([]byte("go")), Session: "s"})
	if x.err != nil {
		t.Fatal(x.err)
	}
	x.Send()
	done := make(chan struct{})
	if stalled {
		go x.channel.watch.holdUp(done)
	}
	rec := new(record.Record)
	x.Receive(rec, nil)
	close(done)
	if rec.Error != nil || len(rec.Messages) != events {
		t.Fatalf("%+v, %d messages", rec.Error, len(rec.Messages))
	}
	server := <-l.conns
	uncertain := 0
	for i, m := range rec.Messages {
		w := server.of(t, fmt.Sprintf("event %03d", i))
		if m.At < w.before || m.At-m.UncertainNs > w.after {
			outside = append(outside, fmt.Sprintf("message %d came between %d and %d, but was written between %d and %d", i, m.At-m.UncertainNs, m.At, w.before, w.after))
		}
		if m.UncertainNs > int64(time.Millisecond) {
			uncertain++
		}
	}
	if stalled && uncertain < events/10 {
		t.Errorf("%d messages are uncertain by more than 1 ms; the reader was delayed", uncertain)
	}
	if tr := rec.Trace; stalled && tr.SharedReads < events/10 || tr.FirstUncertainNs != rec.Messages[0].UncertainNs {
		t.Errorf("%d shared reads, the first message uncertain by %d", tr.SharedReads, tr.FirstUncertainNs)
	}
	return outside
}

// holdUp makes the goroutine that reads wait for 20 ms again and again.
func (w *frameWatch) holdUp(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(3 * time.Millisecond):
			w.mu.Lock()
			time.Sleep(20 * time.Millisecond)
			w.mu.Unlock()
		}
	}
}
