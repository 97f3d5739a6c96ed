//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// opened is a capture on loopback, or nil where the privilege is missing: then Open must say so, and nothing else.
func opened(t *testing.T, opt Options) *Capture {
	t.Helper()
	c, err := Open(opt)
	if err != nil {
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
			t.Fatal(err)
		}
		out := make([]Arrival, 1)
		(*Flow)(nil).Arrivals([]Point{{5, 9}}, out)
		if out[0] != (Arrival{At: 9}) {
			t.Errorf("without the privilege: %+v", out[0])
		}
		return nil
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// pair is a connection on loopback and what the capture knows of it.
func pair(t *testing.T, c *Capture, address string) (server, client net.Conn, f *Flow) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := netip.MustParseAddrPort(l.Addr().String())
	if err := c.Watch(at); err != nil {
		t.Fatal(err)
	}
	dialled := time.Now().UnixNano()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	if f = c.Track(netip.MustParseAddrPort(client.LocalAddr().String()), at, dialled); f == nil {
		t.Fatal("the connection was not seen")
	}
	if c.Track(netip.MustParseAddrPort(client.LocalAddr().String()), at, time.Now().UnixNano()) != nil {
		t.Error("a connection that is older than its dial was taken for it")
	}
	return server, client, f
}

// Nobody reads while the server writes; the capture still knows when each piece arrived.
func TestArrivalsOfAReaderThatSleeps(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			c := opened(t, Options{Bytes: 1 << 20, Every: time.Millisecond})
			if c == nil {
				return
			}
			server, client, f := pair(t, c, address)
			var wrote []int64
			for range 20 {
				wrote = append(wrote, time.Now().UnixNano())
				io.WriteString(server, "data: abcdefg\n\n")
				<-time.After(2 * time.Millisecond)
			}
			server.Close()
			got, err := io.ReadAll(client)
			if err != nil || len(got) != 20*15 {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			read := time.Now().UnixNano()
			points, out := make([]Point, 20), make([]Arrival, 20)
			for i := range points {
				points[i] = Point{End: uint64(15 * (i + 1)), Read: read}
			}
			f.Arrivals(points, out)
			for i, a := range out {
				next := read
				if i+1 < len(wrote) {
					next = wrote[i+1]
				}
				if !a.Known || a.At < wrote[i] || a.At > next {
					t.Errorf("piece %d, written after %d and before %d: %+v", i, wrote[i], next, a)
				}
			}
			f.Close()
			if s := c.Stats(); s.Packets < 21 || s.Lost != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Filters of all sizes pass the kernel's check and the packets of every server.
func TestFilterOfManyServers(t *testing.T) {
	c := opened(t, Options{}) // with this many servers the filter passes what other programs of the machine say too
	if c == nil {
		return
	}
	for i := range 2 * maxPorts {
		var a netip.Addr
		switch {
		case i < 7:
			a = netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
		default:
			a = netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)})
		}
		if err := c.Watch(netip.AddrPortFrom(a, uint16(9000+i))); err != nil {
			t.Fatalf("%d servers: %v", i+1, err)
		}
		if i == 6 || i == 2*maxServers || i == 2*maxPorts-1 {
			server, client, f := pair(t, c, "127.0.0.1:0")
			io.WriteString(server, "x")
			io.ReadFull(client, make([]byte, 1))
			out := make([]Arrival, 1)
			if f.Arrivals([]Point{{1, time.Now().UnixNano()}}, out); !out[0].Known {
				t.Errorf("%d servers: the packet was not seen", i+2)
			}
		}
	}
}

// A ring that is too small loses packets and counts them; what is lost stays with the reader's own instant.
func TestRingThatOverflows(t *testing.T) {
	c := opened(t, Options{Bytes: 2 * blockSize, Every: time.Hour})
	if c == nil {
		return
	}
	server, client, f := pair(t, c, "127.0.0.1:0")
	const n = 3 * perBlock
	for range n { // a packet for each byte
		io.WriteString(server, "x")
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	read := time.Now().UnixNano()
	points, out := make([]Point, n), make([]Arrival, n)
	for i := range points {
		points[i] = Point{uint64(i + 1), read}
	}
	f.Arrivals(points, out)
	known := 0
	for i, a := range out {
		if a.Known {
			known++
		} else if a.At != read {
			t.Fatalf("byte %d: %+v, read at %d", i+1, a, read)
		}
	}
	if s := c.Stats(); s.Lost == 0 || known == 0 || known == n {
		t.Errorf("%d of %d known, %+v", known, n, s)
	}
}
