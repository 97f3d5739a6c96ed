package capture

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

var (
	server4 = netip.MustParseAddrPort("10.0.0.1:8000")
	server6 = netip.MustParseAddrPort("[2001:db8::1]:8000")
	client4 = netip.MustParseAddrPort("10.0.0.2:40000")
	client6 = netip.MustParseAddrPort("[2001:db8::2]:40000")
)

// packet makes the head of one: from server to client, IPv4 with options if there are some.
func packet(from, to netip.AddrPort, options int, seq uint32, flags byte, size int) []byte {
	tcp := make([]byte, tcpHeader)
	binary.BigEndian.PutUint16(tcp, from.Port())
	binary.BigEndian.PutUint16(tcp[2:], to.Port())
	binary.BigEndian.PutUint32(tcp[4:], seq)
	tcp[12], tcp[13] = 8<<4, flags // 12 bytes of options, not captured
	size += 32
	if from.Addr().Is6() {
		b := make([]byte, ipv6Header)
		b[0] = 6 << 4
		binary.BigEndian.PutUint16(b[4:], uint16(size))
		f, t := from.Addr().As16(), to.Addr().As16()
		copy(b[8:], f[:])
		copy(b[24:], t[:])
		return append(b, tcp...)
	}
	b := make([]byte, ipv4Header+options)
	b[0] = 4<<4 | byte(len(b)/4)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)+size))
	f, t := from.Addr().As4(), to.Addr().As4()
	copy(b[12:], f[:])
	copy(b[16:], t[:])
	return append(b, tcp...)
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want key
		size int
	}{
		"IPv4":         {packet(server4, client4, 0, 7, 16, 100), makeKey(client4, server4), 100},
		"IPv4 options": {packet(server4, client4, 40, 7, 16, 100), makeKey(client4, server4), 100},
		"IPv6":         {packet(server6, client6, 0, 7, 16, 100), makeKey(client6, server6), 100},
	} {
		s, ok := parse(c.b, len(c.b)+12+100)
		if !ok || s.key != c.want || s.size != c.size || s.seq != 7 || s.flags != 16 {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
		jumbo := append([]byte(nil), c.b...) // its length does not fit the header
		at := 2
		if name == "IPv6" {
			at = 4
		}
		copy(jumbo[at:], []byte{0, 0})
		if s, ok := parse(jumbo, len(c.b)+12+70000); !ok || s.size != 70000 {
			t.Errorf("%s, jumbo: %d, %v", name, s.size, ok)
		}
		for n := range c.b {
			if _, ok := parse(c.b[:n], n); ok {
				t.Errorf("%s: %d bytes of the head were enough", name, n)
			}
		}
	}
}

// Flows begin with the answer to a SYN; those of other programs are forgotten at their first data; the end counts as a byte.
func TestFlows(t *testing.T) {
	f := flows{byKey: map[key]*flow{}}
	in := func(seq uint32, flags byte, size int, at int64) {
		f.packet(packet(server4, client4, 0, seq, flags, size), 0, at)
	}
	k := makeKey(client4, server4)
	in(50, 16, 3, 1) // of a connection that is older than the capture
	in(99, flagSYN|16, 0, 2)
	in(100, 16, 3, 3)
	if f.byKey[k] != nil || f.stats.Foreign != 2 {
		t.Errorf("nobody's flow is kept: %+v", f.stats)
	}
	in(99, flagSYN|16, 0, 4)
	f.byKey[k].ours = true
	in(99, flagSYN|16, 0, 5) // once more
	in(100, 16, 3, 6)
	in(103, flagFIN|16, 2, 7)
	for _, c := range []struct {
		end uint64
		at  int64
	}{{3, 6}, {5, 7}, {6, 7}} {
		if a := f.byKey[k].arrival(Point{c.end, 100}); !a.Known || a.At != c.at {
			t.Errorf("byte %d: %+v", c.end, a)
		}
	}
	in(4000, flagSYN|16, 0, 8) // the ports are used again
	if g := f.byKey[k]; g.base != 4001 || g.ours || g.opened != 8 {
		t.Errorf("%+v", g)
	}
}

func FuzzPacket(f *testing.F) {
	f.Add(packet(server4, client4, 4, 1, flagSYN, 0), 10)
	f.Add(packet(server6, client6, 0, 1, 16, 9), 10)
	f.Fuzz(func(t *testing.T, b []byte, length int) {
		w := flows{byKey: map[key]*flow{}}
		w.packet(b, length, 1)
		if s, ok := parse(b, length); ok && s.size < 0 {
			t.Error("a negative size")
		}
	})
}
