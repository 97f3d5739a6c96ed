package transport

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tcpState queries the kernel; a Unix socket has no such state. A segment that the peer reports as received twice (RFC 2883) was late, not lost: a
// machine that is short of CPU causes many of them.
func (c *conn) tcpState() tcpState {
	q := tcpQueries.Get().(*tcpQuery)
	defer tcpQueries.Put(q)
	q.state = tcpState{}
	if c.raw.Control(q.call) != nil { // the connection is already closed
		return tcpState{}
	}
	return q.state
}

// tcpQuery is a query of the state of a connection. Queries are reused, because every request has one.
type tcpQuery struct {
	state tcpState
	call  func(fd uintptr) // ask
}

var tcpQueries = sync.Pool{New: func() any {
	q := new(tcpQuery)
	q.call = q.ask
	return q
}}

func (q *tcpQuery) ask(fd uintptr) {
	i, ok := tcpInfo(fd)
	if !ok {
		return
	}
	q.state = tcpState{
		known: true, ended: i.State != unix.BPF_TCP_ESTABLISHED,
		smoothedRTT: 1000 * int64(i.Rtt), resent: i.Total_retrans - i.Dsack_dups, unordered: i.Rcv_ooopack, window: i.Snd_cwnd,
		busy: 1000 * int64(i.Busy_time), received: i.Bytes_received,
	}
}

// tcpInfo returns what the kernel knows of a TCP connection. It allocates nothing and notifies no scheduler, because the call cannot wait.
func tcpInfo(fd uintptr) (i unix.TCPInfo, ok bool) {
	size := uint32(unsafe.Sizeof(i))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO, uintptr(unsafe.Pointer(&i)), uintptr(unsafe.Pointer(&size)), 0)
	return i, errno == 0
}
