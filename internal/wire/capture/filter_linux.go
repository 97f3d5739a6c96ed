//go:build linux && (amd64 || arm64)

package capture

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// Limits of a program: conditional jumps reach 255 instructions. Beyond maxServers servers the filter distinguishes only ports, beyond maxPorts ports
// nothing.
const (
	maxServers = 8
	maxPorts   = 24
)

// Instructions of classic BPF. Offsets count from the IP header.
const (
	loadByte     = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
	loadHalf     = unix.BPF_LD | unix.BPF_H | unix.BPF_ABS
	loadWord     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	loadByteX    = unix.BPF_LD | unix.BPF_B | unix.BPF_IND
	loadHalfX    = unix.BPF_LD | unix.BPF_H | unix.BPF_IND
	ipHeaderToX  = unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH
	constToX     = unix.BPF_LDX | unix.BPF_W | unix.BPF_IMM
	memToX       = unix.BPF_LDX | unix.BPF_MEM
	store        = unix.BPF_ST
	ifEqual      = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifSet        = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	ifGreaterX   = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_X
	and          = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	shiftRight   = unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K
	addX         = unix.BPF_ALU | unix.BPF_ADD | unix.BPF_X
	giveBack     = unix.BPF_RET | unix.BPF_K
	etherTypeOff = 0xfffff000 // SKF_AD_OFF + SKF_AD_PROTOCOL
)

// program is a filter under construction; jumps refer to labels.
type program struct {
	code   []unix.SockFilter
	jumps  []jumpInstr
	labels map[string]int
}

type jumpInstr struct {
	at      int
	yes, no string // "" = the next instruction
}

func (p *program) op(code int, k uint32) {
	p.code = append(p.code, unix.SockFilter{Code: uint16(code), K: k})
}

func (p *program) jump(code int, k uint32, yes, no string) {
	p.jumps = append(p.jumps, jumpInstr{at: len(p.code), yes: yes, no: no})
	p.op(code, k)
}

func (p *program) label(name string) { p.labels[name] = len(p.code) }

// link resolves the labels to jump distances.
func (p *program) link() []unix.SockFilter {
	distance := func(at int, to string) uint8 {
		if to == "" {
			return 0
		}
		return uint8(p.labels[to] - at - 1)
	}
	for _, j := range p.jumps {
		p.code[j.at].Jt, p.code[j.at].Jf = distance(j.at, j.yes), distance(j.at, j.no)
	}
	return p.code
}

// filter passes the TCP segments of servers that hold data or begin or end a connection, and keeps snap bytes of each. It drops pure
// acknowledgements, because a busy upload would fill the ring with them.
func filter(servers []netip.AddrPort, snap uint32) []unix.SockFilter {
	p := &program{labels: map[string]int{}}
	p.op(loadWord, etherTypeOff)
	p.jump(ifEqual, unix.ETH_P_IP, "IPv4", "")
	p.jump(ifEqual, unix.ETH_P_IPV6, "IPv6", "drop")
	p.label("IPv4")
	p.op(loadByte, 9)
	p.jump(ifEqual, unix.IPPROTO_TCP, "", "drop")
	p.op(loadHalf, 6)
	p.jump(ifSet, 0x1fff, "drop", "") // a later fragment
	p.op(ipHeaderToX, 0)
	p.source("4", servers)
	p.data("4", 2)
	p.label("IPv6")
	p.op(loadByte, 6)
	p.jump(ifEqual, unix.IPPROTO_TCP, "", "drop") // extension headers: not supported
	p.op(constToX, ipv6Header)
	p.source("6", servers)
	p.data("6", 4)
	p.label("drop")
	p.op(giveBack, 0)
	p.label("pass")
	p.op(giveBack, snap)
	return p.link()
}

// source continues only for segments that come from one of the servers. X holds the length of the IP header.
func (p *program) source(family string, servers []netip.AddrPort) {
	found := "server" + family
	switch ports := ports(servers); {
	case len(servers) <= maxServers:
		for _, s := range servers {
			if s.Addr().Is4() == (family == "4") {
				p.server(s, found)
			}
		}
	case len(ports) <= maxPorts:
		p.op(loadHalfX, 0)
		for _, port := range ports {
			p.jump(ifEqual, uint32(port), found, "")
		}
	default:
		p.op(loadHalfX, 0)
		p.jump(ifSet, 0xffff, found, "")
	}
	p.op(giveBack, 0)
	p.label(found)
}

// server jumps to a label if the segment comes from a server.
func (p *program) server(s netip.AddrPort, found string) {
	next := "not " + s.String()
	if s.Addr().Is4() {
		a := s.Addr().As4()
		p.op(loadWord, 12)
		p.jump(ifEqual, binary.BigEndian.Uint32(a[:]), "", next)
	} else {
		a := s.Addr().As16()
		for i := range 4 {
			p.op(loadWord, uint32(8+4*i))
			p.jump(ifEqual, binary.BigEndian.Uint32(a[4*i:]), "", next)
		}
	}
	p.op(loadHalfX, 0)
	p.jump(ifEqual, uint32(s.Port()), found, next)
	p.label(next)
}

// data passes segments that hold data, or begin or end a connection. lengthAt is the offset of the packet's length in the IP header. In IPv4 the
// length includes the IP header, in IPv6 it does not.
func (p *program) data(family string, lengthAt uint32) {
	p.op(loadByteX, 13)
	p.jump(ifSet, flagFIN|flagSYN|flagRST, "pass", "")
	p.op(loadByteX, 12)
	p.op(and, 0xf0)
	p.op(shiftRight, 2)
	if family == "4" {
		p.op(addX, 0)
	}
	p.op(store, 0) // length of the headers; a segment with data is longer
	p.op(memToX, 0)
	p.op(loadHalf, lengthAt)
	p.jump(ifEqual, 0, "pass", "") // too long for the length field of its header
	p.jump(ifGreaterX, 0, "pass", "drop")
}

func ports(servers []netip.AddrPort) []uint16 {
	var list []uint16
	for _, s := range servers {
		if !slices.Contains(list, s.Port()) {
			list = append(list, s.Port())
		}
	}
	return list
}
