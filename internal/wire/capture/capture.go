// Package capture finds the instants at which the bytes of TCP streams arrived, from the headers of the packets that carried them.
//
// The kernel's receive stamp of a read is correct only while the client keeps up: segments merge in the receive queue and only the last stamp
// survives. A ring of packet headers (AF_PACKET, TPACKET_V2; Linux, CAP_NET_RAW) records every segment before TCP does. It works while the client is
// stopped or waits for a CPU, and under TLS, because it maps offsets of the stream and never reads the content.
//
// Instants are real-time ns (Unix), the clock with which the kernel stamps packets. Messages that the ring does not know keep the stamp of their
// read, and are counted.
package capture

import (
	"errors"
	"net/netip"
	"time"
)

// ErrUnsupported reports that the platform has no packet ring.
var ErrUnsupported = errors.New("packet capture needs Linux on amd64 or arm64")

// Options are the settings of a Capture.
type Options struct {
	Bytes int           // size of the ring, 160 a packet; 0 = 16 MiB: 104,000 packets, 2.6 s of 40,000 events/s
	Every time.Duration // how often the ring is emptied without a query; 0 = 20 ms
}

// defaults fills in the default values.
func (o Options) defaults() Options {
	if o.Bytes == 0 {
		o.Bytes = 16 << 20
	}
	if o.Every == 0 {
		o.Every = 20 * time.Millisecond
	}
	return o
}

// Point is an offset in a stream whose arrival is queried.
type Point struct {
	End  uint64 // offset: number of bytes of the stream before it
	Read int64  // instant at which the byte before it had arrived at the latest
}

// Arrival is the instant at which all bytes up to a point had arrived.
type Arrival struct {
	At    int64
	Known bool // false: the packets do not show it, At is the point's own Read
}

// Mark is a range of a stream; it starts at the end of the previous mark.
type Mark struct {
	End   uint64 // offset of its end
	At    int64  // instant at which all bytes up to End had arrived
	Known bool   // false: the packets do not show it, At is the Read of the query
}

// Stats are the counters of a capture.
type Stats struct {
	Packets uint64 // packets that came through the ring
	Lost    uint64 // packets for which the ring had no room
	Foreign uint64 // packets of connections of other programs or of closed connections
}

// key identifies a connection; 4-byte addresses are mapped into 16 bytes.
type key struct {
	local, remote         [16]byte
	localPort, remotePort uint16
}

func makeKey(local, remote netip.AddrPort) key {
	return key{local.Addr().Unmap().As16(), remote.Addr().Unmap().As16(), local.Port(), remote.Port()}
}
