package transport

import (
	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// tcpState is the kernel's view of a TCP connection at an instant (tcp(7), TCP_INFO). The counters start with the connection.
type tcpState struct {
	known             bool
	ended             bool   // the peer has ended its side
	smoothedRTT       int64  // ns
	resent, unordered uint32 // segments: retransmitted because they were lost; received ahead of an earlier one
	window            uint32 // congestion window, segments
	busy              int64  // ns during which data waited to be sent or acknowledged; resolution: one kernel tick
	received          uint64 // bytes received so far
}

// changesSince returns the changes since an earlier state of the same connection; the zero state is the beginning of the connection.
func (s tcpState) changesSince(before tcpState) record.Path {
	if !s.known {
		return record.Path{}
	}
	return record.Path{
		Known: true, SmoothedRTT: s.smoothedRTT, Window: int(s.window),
		Resent: increase(s.resent, before.resent), Unordered: increase(s.unordered, before.unordered),
	}
}

// increase returns by how much a counter has grown; it handles wrap-around. A counter of lost segments can shrink, if the peer reports later that it had
// received one.
func increase(now, before uint32) int { return max(0, int(int32(now-before))) }

// path returns the kernel's statistics of the connection since the previous call of path.
func (c *conn) path(now tcpState) record.Path {
	p := now.changesSince(c.lastTCP)
	if now.known {
		c.lastTCP = now
	}
	return p
}

// settle queries the state of a connection whose answer has ended.
func (c *conn) settle() tcpState {
	before, now := clock.Now(), c.tcpState()
	c.settled = 0
	if now.known && !now.ended && now.received == c.end {
		c.settled = before
	}
	return now
}

// usable reports whether an idle connection can carry a request. A query of a few microseconds ago says the same as a look at the socket.
func (c *conn) usable() bool {
	return c.settled != 0 && clock.Now()-c.settled < staleAfter || c.alive()
}

// path returns the kernel's statistics of the exchange's connection from when the exchange got it until now. All streams of a connection share the same
// segments.
func (x *Exchange) path(now tcpState) record.Path {
	if s := x.stream; s != nil {
		return now.changesSince(s.firstTCP)
	}
	return x.conn.path(now)
}
