//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Geometry of the ring. A frame holds the kernel's header and enough of the packet for an IPv4 header with all options and a TCP header.
const (
	frameSize = 160
	frameHead = 80 // TPACKET_ALIGN(52) + 16
	snapLen   = frameSize - frameHead
	blockSize = 64 << 10
	perBlock  = blockSize / frameSize
)

// Capture reads the headers of the segments that servers send. It is safe for concurrent use.
type Capture struct {
	mu      sync.Mutex
	flows   flows
	servers []netip.AddrPort
	fd      int
	mem     []byte
	blocks  int
	next    int // next frame to read
	stop    chan struct{}
	done    chan struct{}
}

// Open starts a capture that records nothing until Watch names servers. The error wraps unix.EPERM if CAP_NET_RAW is missing.
func Open(opt Options) (*Capture, error) {
	opt = opt.defaults()
	// Protocol 0: the socket receives nothing until bind, so that no packet bypasses the filter.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	c := &Capture{
		fd: fd, blocks: max(opt.Bytes/blockSize, 2), flows: flows{byKey: map[key]*flow{}},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	if err := c.set(); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	go c.run(opt.Every)
	return c, nil
}

// set creates the ring and binds it.
func (c *Capture) set() error {
	if err := c.attach(); err != nil {
		return err
	}
	// This option makes the kernel stamp packets at the same place as the sockets' own stamps.
	err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	if err != nil {
		return fmt.Errorf("packet stamps: %w", err)
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return fmt.Errorf("packet ring version: %w", err)
	}
	ring := unix.TpacketReq{Block_size: blockSize, Block_nr: uint32(c.blocks), Frame_size: frameSize, Frame_nr: uint32(perBlock * c.blocks)}
	if err := unix.SetsockoptTpacketReq(c.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &ring); err != nil {
		return fmt.Errorf("packet ring: %w", err)
	}
	if c.mem, err = unix.Mmap(c.fd, 0, blockSize*c.blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("packet ring: %w", err)
	}
	// An option, not the filter, excludes outgoing packets: with a filter the kernel would clone every sent packet first. Linux 4.20.
	if err := unix.SetsockoptInt(c.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return errors.Join(fmt.Errorf("ignoring outgoing packets: %w", err), unix.Munmap(c.mem))
	}
	// All protocols: a socket that is bound to one protocol gets its packets after TCP.
	if err := unix.Bind(c.fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL)}); err != nil {
		return errors.Join(fmt.Errorf("packet socket: %w", err), unix.Munmap(c.mem))
	}
	return nil
}

func bigEndian(v uint16) uint16 { return v<<8 | v>>8 }

// attach replaces the filter by one for the current servers.
func (c *Capture) attach() error {
	prog := filter(c.servers, snapLen)
	err := unix.SetsockoptSockFprog(c.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]})
	if err != nil {
		return fmt.Errorf("packet filter: %w", err)
	}
	return nil
}

// Watch makes the capture record a server. Call it before the first connection to the server is made.
func (c *Capture) Watch(server netip.AddrPort) error {
	server = netip.AddrPortFrom(server.Addr().Unmap().WithZone(""), server.Port())
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.servers, server) || c.mem == nil {
		return nil
	}
	c.servers = append(c.servers, server)
	return c.attach()
}

// run empties the ring regularly, so that the ring must hold only what arrives while the process is stopped.
func (c *Capture) run(every time.Duration) {
	defer close(c.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-t.C:
			c.mu.Lock()
			c.drain()
			c.mu.Unlock()
		}
	}
}

// drain processes the packets of the ring. A tap for all protocols gets a packet before TCP does: whoever has read a byte finds its segment here. The
// caller holds c.mu.
func (c *Capture) drain() {
	for range perBlock * c.blocks {
		if c.mem == nil {
			return
		}
		p := unsafe.Pointer(&c.mem[c.next/perBlock*blockSize+c.next%perBlock*frameSize])
		h := (*unix.Tpacket2Hdr)(p)
		if atomic.LoadUint32(&h.Status)&unix.TP_STATUS_USER == 0 {
			return
		}
		if n := int(h.Snaplen); n <= snapLen && int(h.Net)+n <= frameSize {
			c.flows.packet(unsafe.Slice((*byte)(unsafe.Add(p, int(h.Net))), n), int(h.Len), int64(h.Sec)*1e9+int64(h.Nsec))
		}
		atomic.StoreUint32(&h.Status, unix.TP_STATUS_KERNEL)
		if c.next++; c.next == perBlock*c.blocks {
			c.next = 0
		}
	}
}

// Flow is a connection's view of the capture. The methods of a nil Flow report that nothing is known.
type Flow struct {
	c *Capture
	k key
	f *flow
}

// Track must be called when a connection is made, before anything is written to it. nil = no start of the connection was seen after the instant of
// its dial: the address is translated on the way, or its packets bypass the tap.
func (c *Capture) Track(local, remote netip.AddrPort, dialled int64) *Flow {
	k := makeKey(local, remote)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain()
	f := c.flows.byKey[k]
	if f == nil || f.opened < dialled {
		return nil
	}
	f.ours = true
	return &Flow{c, k, f}
}

// Arrivals returns the instants of points. Points must ascend over all calls.
func (f *Flow) Arrivals(points []Point, out []Arrival) {
	if f == nil {
		for i, p := range points {
			out[i] = Arrival{At: p.Read}
		}
		return
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.drain()
	for i, p := range points {
		out[i] = f.f.arrival(p)
	}
}

// Through returns the marks up to a point that no earlier call returned. The last mark ends at the point. Points must ascend.
func (f *Flow) Through(p Point) []Mark {
	if f == nil {
		return nil
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.drain()
	return f.f.through(p)
}

// Close drops the state of the connection.
func (f *Flow) Close() {
	if f == nil {
		return
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.c.flows.byKey[f.k] == f.f {
		delete(f.c.flows.byKey, f.k)
	}
}

// Stats returns the counters.
func (c *Capture) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mem == nil {
		return c.flows.stats
	}
	if s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		c.flows.stats.Lost += uint64(s.Drops) // reading resets the kernel's counter to 0
	}
	return c.flows.stats
}

// Close ends the capture. Its flows can still be queried for what they have seen.
func (c *Capture) Close() error {
	close(c.stop)
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	mem := c.mem
	c.mem = nil
	return errors.Join(unix.Munmap(mem), unix.Close(c.fd))
}
