// Package capture finds the instants at which the bytes of TCP streams arrived, from the headers of the packets that carried them.
//
// The kernel's receive stamp of a read is right only while the client keeps up: segments merge in the receive queue and keep the last
// one's stamp. A ring of packet headers (AF_PACKET, TPACKET_V2; Linux, CAP_NET_RAW) sees every segment before TCP does, also while the
// client is stopped or waits for a processor, and also under TLS: what is mapped are offsets of the stream, never its content.
//
// Instants are real-time ns (Unix), as the kernel stamps packets. What the ring does not know stays with the stamp of the read, message by
// message, and is counted.
package capture

import (
	"errors"
	"net/netip"
	"time"
)

// ErrUnsupported says that the platform has no packet ring.
var ErrUnsupported = errors.New("packet capture needs Linux on amd64 or arm64")

// Options of a Capture.
type Options struct {
	Bytes int           // of the ring, 160 a packet; 0 = 16 MiB: 104,000 packets, 2.6 s of 40,000 events/s
	Every time.Duration // how often the ring is emptied when nobody asks; 0 = 20 ms
}

// defaults fills in what was not given.
func (o Options) defaults() Options {
	if o.Bytes == 0 {
		o.Bytes = 16 << 20
	}
	if o.Every == 0 {
		o.Every = 20 * time.Millisecond
	}
	return o
}

// Point is a place in a stream whose arrival is asked for.
type Point struct {
	End  uint64 // bytes of the stream up to it
	Read int64  // instant at which the byte before it was there at the latest
}

// Arrival is the instant at which the bytes up to a point had all arrived.
type Arrival struct {
	At    int64
	Known bool // false: the packets do not tell, At is the point's own Read
}

// Mark is a stretch of a stream, from where the one before ended.
type Mark struct {
	End   uint64 // bytes of the stream up to its end
	At    int64  // instant at which they had all arrived
	Known bool   // false: the packets do not tell, At is the instant that was asked with
}

// Stats of a capture.
type Stats struct {
	Packets uint64 // that came through the ring
	Lost    uint64 // that it had no room for
	Foreign uint64 // of connections that are not ours, or are closed
}

// key names a connection; 4-byte addresses are mapped into 16.
type key struct {
	local, remote         [16]byte
	localPort, remotePort uint16
}

func makeKey(local, remote netip.AddrPort) key {
	return key{local.Addr().Unmap().As16(), remote.Addr().Unmap().As16(), local.Port(), remote.Port()}
}
