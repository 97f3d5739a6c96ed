package transport

import "aiperf/internal/record"

// tcpState is what the kernel tells of a TCP connection at an instant (tcp(7), TCP_INFO). The counters count since the connection began.
type tcpState struct {
	known             bool
	smoothedRTT       int64  // ns
	resent, unordered uint32 // segments: sent again because they were lost; received ahead of an earlier one
	window            uint32 // congestion window, segments
	busy              int64  // ns during which something waited to be sent, or to be acknowledged; to a tick of the kernel
}

// since is what the kernel tells of the time since an earlier state of the same connection; the zero state is its beginning.
func (s tcpState) since(before tcpState) record.Path {
	if !s.known {
		return record.Path{}
	}
	return record.Path{
		Known: true, SmoothedRTT: s.smoothedRTT, Window: int(s.window),
		Resent: grown(s.resent, before.resent), Unordered: grown(s.unordered, before.unordered),
	}
}

// grown is by how much a counter has grown, also where it wrapped. A counter of lost segments can shrink: the peer reports later that it had one.
func grown(now, before uint32) int { return max(0, int(int32(now-before))) }

// path is what the kernel tells of the connection since path was called before.
func (c *conn) path() record.Path {
	now := c.tcpState()
	p := now.since(c.told)
	if now.known {
		c.told = now
	}
	return p
}

// path is what the kernel tells of the exchange's connection since the exchange got it. Streams of one connection see the same segments.
func (x *Exchange) path() record.Path {
	if s := x.stream; s != nil {
		return s.conn.k.tcpState().since(s.before)
	}
	return x.conn.path()
}
