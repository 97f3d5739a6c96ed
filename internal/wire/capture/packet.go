package capture

import "encoding/binary"

// Flags of a TCP segment (RFC 9293, section 3.1).
const (
	flagFIN = 1
	flagSYN = 2
	flagRST = 4
)

const (
	ipv4Header = 20 // without options
	ipv6Header = 40
	tcpHeader  = 20 // without options
)

// segment is the content of a packet's TCP header.
type segment struct {
	key   key
	seq   uint32
	flags byte
	size  int // bytes of data
}

// parse parses a packet that starts with its IP header. length is the length of the whole packet, for packets that are too long for the IP header's
// field.
func parse(b []byte, length int) (s segment, ok bool) {
	if len(b) == 0 {
		return s, false
	}
	var tcp []byte
	switch b[0] >> 4 {
	case 4:
		head := int(b[0]&15) * 4
		if head < ipv4Header || len(b) < head+tcpHeader {
			return s, false
		}
		s.key.remote, s.key.local = mapped(b[12:16]), mapped(b[16:20])
		s.size = int(binary.BigEndian.Uint16(b[2:]))
		if s.size == 0 {
			s.size = length
		}
		s.size -= head
		tcp = b[head:]
	case 6:
		if len(b) < ipv6Header+tcpHeader {
			return s, false
		}
		s.key.remote, s.key.local = [16]byte(b[8:24]), [16]byte(b[24:40])
		s.size = int(binary.BigEndian.Uint16(b[4:]))
		if s.size == 0 {
			s.size = length - ipv6Header
		}
		tcp = b[ipv6Header:]
	default:
		return s, false
	}
	s.key.remotePort, s.key.localPort = binary.BigEndian.Uint16(tcp), binary.BigEndian.Uint16(tcp[2:])
	s.seq, s.flags = binary.BigEndian.Uint32(tcp[4:]), tcp[13]
	s.size -= int(tcp[12]>>4) * 4
	return s, s.size >= 0
}

// mapped returns an IPv4 address in 16 bytes.
func mapped(b []byte) [16]byte {
	return [16]byte{10: 0xff, 11: 0xff, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}
}

// flows are the connections to which packets are assigned.
type flows struct {
	byKey map[key]*flow
	stats Stats
}

// packet processes a packet that arrived at an instant. The answer to a SYN begins a flow. A flow that nobody has claimed when its first data arrive
// belongs to another program, so it is dropped.
func (t *flows) packet(b []byte, length int, at int64) {
	t.stats.Packets++
	s, ok := parse(b, length)
	if !ok {
		t.stats.Foreign++
		return
	}
	f := t.byKey[s.key]
	switch {
	case s.flags&flagSYN != 0:
		if f == nil || f.base != s.seq+1 {
			t.byKey[s.key] = &flow{base: s.seq + 1, opened: at, last: at}
		}
	case f == nil:
		t.stats.Foreign++
	case !f.ours:
		t.stats.Foreign++
		delete(t.byKey, s.key)
	case s.flags&flagFIN != 0:
		f.segment(s.seq, s.size+1, at) // the end of the stream counts as one byte
	default:
		f.segment(s.seq, s.size, at)
	}
}
