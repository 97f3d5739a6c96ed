package transport

import "golang.org/x/sys/unix"

// tcpState queries the kernel; a Unix socket has no such state. A segment that the peer reports as received twice (RFC 2883) was late, not lost: a
// machine that is short of CPU causes many of them.
func (c *conn) tcpState() (s tcpState) {
	err := c.raw.Control(func(fd uintptr) {
		i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		s = tcpState{
			known: true, ended: i.State != unix.BPF_TCP_ESTABLISHED, smoothedRTT: 1000 * int64(i.Rtt), resent: i.Total_retrans - i.Dsack_dups, unordered: i.Rcv_ooopack, window: i.Snd_cwnd,
			busy: 1000 * int64(i.Busy_time),
		}
	})
	if err != nil { // the connection is already closed
		return tcpState{}
	}
	return s
}
