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

// Geometry of the ring. A frame holds the kernel's header and so much of the packet that an IPv4 header with all options and a TCP
// header fit.
const (
	frameSize = 160
	frameHead = 80 // TPACKET_ALIGN(52) + 16
	snapLen   = frameSize - frameHead
	blockSize = 64 << 10
	perBlock  = blockSize / frameSize
)

// Capture reads the headers of the segments that servers send. Safe for concurrent use.
type Capture struct {
	mu      sync.Mutex
	flows   flows
	servers []netip.AddrPort
	fd      int
	mem     []byte
	blocks  int
	next    int // frame to look at
	stop    chan struct{}
	done    chan struct{}
}

// Open starts a capture that sees nothing yet: Watch names servers. The error wraps unix.EPERM where CAP_NET_RAW is missing.
func Open(opt Options) (*Capture, error) {
	opt = opt.defaults()
	// Protocol 0: nothing is received until bind, so nothing passes before the filter stands.
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

// set makes the ring and binds it.
func (c *Capture) set() error {
	if err := c.attach(); err != nil {
		return err
	}
	// The option turns on the stamp at the place where the sockets' own are taken.
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
	// By the option and not by the filter, or every packet that we send is cloned first. Linux 4.20.
	if err := unix.SetsockoptInt(c.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return errors.Join(fmt.Errorf("ignoring outgoing packets: %w", err), unix.Munmap(c.mem))
	}
	// All protocols: a socket bound to one of them gets its packets after TCP.
	if err := unix.Bind(c.fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL)}); err != nil {
		return errors.Join(fmt.Errorf("packet socket: %w", err), unix.Munmap(c.mem))
	}
	return nil
}

func bigEndian(v uint16) uint16 { return v<<8 | v>>8 }

// attach puts the filter for the servers in place of the one before.
func (c *Capture) attach() error {
	prog := filter(c.servers, snapLen)
	err := unix.SetsockoptSockFprog(c.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]})
	if err != nil {
		return fmt.Errorf("packet filter: %w", err)
	}
	return nil
}

// Watch makes the capture look at a server, before the first connection to it is made.
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

// run empties the ring now and then, so that it must only hold what arrives while the process stands still.
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

// drain takes in the packets of the ring. On a tap for all protocols a packet is there before TCP has it: whoever has read a byte finds
// its segment here. c.mu is held.
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

// Flow is a connection's view of the capture. A nil Flow knows nothing.
type Flow struct {
	c *Capture
	k key
	f *flow
}

// Track is called when a connection is made, before anything is written to it. nil = its beginning was not seen after the instant of its
// dial: the address is translated on the way, or its packets do not pass the tap.
func (c *Capture) Track(local, remote netip.AddrPort, dialled int64) *Flow {
	k := makeKey(local, remote)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain()
	f := c.flows.byKey[k]
	if f == nil || f.opened < dialled {
		return nil
	}
	f.claimed = true
	return &Flow{c, k, f}
}

// Arrivals gives the instants of points, which must ascend over all calls.
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

// Through gives the instants of all that arrived up to a point and was in no answer before: the stretches end with it. Points must ascend.
func (f *Flow) Through(p Point) []Mark {
	if f == nil {
		return nil
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.drain()
	return f.f.through(p)
}

// Close forgets the connection.
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

// Stats reads the counters.
func (c *Capture) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mem == nil {
		return c.flows.stats
	}
	if s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		c.flows.stats.Lost += uint64(s.Drops) // reading sets the kernel's counter to 0
	}
	return c.flows.stats
}

// Close ends the capture. Its flows may still be asked: they know what they have seen.
func (c *Capture) Close() error {
	close(c.stop)
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	mem := c.mem
	c.mem = nil
	return errors.Join(unix.Munmap(mem), unix.Close(c.fd))
}
