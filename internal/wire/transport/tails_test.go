package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// TestNoByteCameBeforeTheRequest: the first read of a connection has no read before it, so only the request bounds what it brought.
func TestNoByteCameBeforeTheRequest(t *testing.T) {
	written := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, pacedHead+"b\r\ndata: abc\n\n\r\n0\r\n\r\n")
		close(written)
		r.ReadByte()
	})
	c := mustClient(t, func(o *Options) { o.UserStamps = true })
	x := c.Prepare(context.Background(), &Request{Target: target})
	x.conn.unread = nil // no check of all sockets tells more
	x.Send()
	<-written
	<-time.After(time.Millisecond)
	var rec record.Record
	x.Receive(&rec, nil)
	if rec.Error != nil || len(rec.Messages) != 1 {
		t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
	}
	if m := rec.Messages[0]; m.At-m.UncertainNs != rec.Trace.SendStart || m.UncertainNs < int64(time.Millisecond) {
		t.Errorf("the event came after %d, want %d, the start of the request", m.At-m.UncertainNs, rec.Trace.SendStart)
	}
}

// TestTheFirstBytesOfTheNextChunkShareTheStamp: what a read brings of the next chunk's size came with the message, or later under its stamp.
func TestTheFirstBytesOfTheNextChunkShareTheStamp(t *testing.T) {
	next := make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, pacedHead+"b\r\ndata: abc\n\n\r\nb")
		<-next
		io.WriteString(c, "\r\ndata: def\n\n\r\n0\r\n\r\n")
		r.ReadByte()
	})
	var rec record.Record
	n := 0
	mustClient(t, nil).Do(context.Background(), &Request{Target: target}, &rec, func([]record.Message) *record.Error {
		if n++; n == 1 {
			close(next)
		}
		return nil
	})
	if rec.Error != nil || len(rec.Messages) != 2 {
		t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
	}
	if m := rec.Messages[0]; m.UncertainNs == 0 || rec.Trace.SharedReads != 2 { // the second one shares its read with the last chunk
		t.Errorf("uncertain by %d ns, %d messages share their read; want 2", m.UncertainNs, rec.Trace.SharedReads)
	}
}

// TestAMessageBeforeALaterReadKeepsItsStamp: the end of the stream cannot have replaced the stamp of a message if other bytes were read between.
func TestAMessageBeforeALaterReadKeepsItsStamp(t *testing.T) {
	next, done := make(chan struct{}), make(chan struct{})
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, pacedHead)
		<-time.After(2 * time.Millisecond)
		io.WriteString(c, "b\r\ndata: abc\n\n\r\n")
		<-next
		io.WriteString(c, "0\r\n\r\n")
		c.Close()
		close(done)
	})
	x := mustClient(t, nil).Prepare(context.Background(), &Request{Target: target})
	x.conn.unread = nil // no check tells that the socket was quiet between the two reads
	x.Send()
	var rec record.Record
	x.Receive(&rec, func([]record.Message) *record.Error {
		close(next)
		<-done
		<-time.After(time.Millisecond)
		return nil
	})
	if rec.Error != nil || len(rec.Messages) != 1 {
		t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
	}
	if m := rec.Messages[0]; rec.Trace.SharedReads != 0 || m.Clock == record.KernelClock && m.UncertainNs != 0 || m.At > clock.Now() {
		t.Errorf("%+v, %d shared", m, rec.Trace.SharedReads)
	}
}
