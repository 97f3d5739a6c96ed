package bus

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/clocktie"
)

// A probe and its answer have the same length, so that nobody can use the server to multiply traffic: 8 bytes nonce, two instants (0 in a probe), and a
// code that only who knows the token can compute.
const (
	nonceSize    = 8
	codeSize     = 16
	probeSize    = nonceSize + 16 + codeSize
	probeTimeout = 250 * time.Millisecond
)

// clockKey is the key of the codes of probes.
type clockKey [sha256.Size]byte

func newClockKey(token string) clockKey { return sha256.Sum256([]byte("aiperf clock probe " + token)) }

// seal writes the code of a probe (label 'p') or an answer ('a').
func (k *clockKey) seal(label byte, b []byte) {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte{label})
	mac.Write(b[:probeSize-codeSize])
	copy(b[probeSize-codeSize:], mac.Sum(nil))
}

// valid reports whether a datagram is a probe or an answer that somebody with the token wrote.
func (k *clockKey) valid(label byte, b []byte) bool {
	if len(b) != probeSize {
		return false
	}
	var want [probeSize]byte
	copy(want[:], b)
	k.seal(label, want[:])
	return hmac.Equal(want[probeSize-codeSize:], b[probeSize-codeSize:])
}

// stampedSocket is a UDP socket that knows when datagrams came.
type stampedSocket struct {
	conn    *net.UDPConn
	control [128]byte
	low     int64 // smallest possible difference of the real-time clock and the instants, ns, at the last read
}

func newStampedSocket(conn *net.UDPConn) *stampedSocket {
	enableStamps(conn)
	return &stampedSocket{conn: conn, low: realTimeLow()}
}

// realTimeLow returns a lower limit of real-time ns minus instant.
func realTimeLow() int64 {
	low := int64(0)
	for i := range 3 {
		wall := time.Now().UnixNano() // read before the instant below, so the limit holds however long the pause between them is
		if d := wall - clock.Now(); i == 0 || d > low {
			low = d
		}
	}
	return low
}

// read returns a datagram and an instant that is not before it came. The kernel's stamp makes it a tight one. If the real-time clock is stepped around
// the read, the instant is later, but never too early.
func (s *stampedSocket) read(b []byte) (n int, at int64, from netip.AddrPort, err error) {
	n, size, _, from, err := s.conn.ReadMsgUDPAddrPort(b, s.control[:])
	at = clock.Now()
	if err != nil {
		return 0, at, from, err
	}
	low := realTimeLow()
	if stamp := kernelStamp(s.control[:size]); stamp != 0 {
		at = min(at, stamp-min(low, s.low))
	}
	s.low = low
	return n, at, from, nil
}

// clockServer answers probes by UDP.
type clockServer struct {
	socket *stampedSocket
	key    clockKey
}

// newClockServer listens on the port number of the bus.
func newClockServer(address *net.TCPAddr, token string) (*clockServer, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: address.IP, Port: address.Port, Zone: address.Zone})
	if err != nil {
		return nil, err
	}
	return &clockServer{socket: newStampedSocket(conn), key: newClockKey(token)}, nil
}

// run answers until the socket is closed.
func (c *clockServer) run() {
	var b [probeSize + 1]byte
	for {
		n, received, from, err := c.socket.read(b[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || !c.key.valid('p', b[:n]) {
			continue
		}
		binary.BigEndian.PutUint64(b[nonceSize:], uint64(received))
		binary.BigEndian.PutUint64(b[nonceSize+8:], uint64(clock.Now()))
		c.key.seal('a', b[:])
		_, _ = c.socket.conn.WriteToUDPAddrPort(b[:probeSize], from) // a lost answer is a lost probe
	}
}

func (c *clockServer) close() { c.socket.conn.Close() }

// clockClient sends probes by UDP.
type clockClient struct {
	socket *stampedSocket
	key    clockKey
}

// newClockClient connects to the controller's clock.
func newClockClient(ctx context.Context, join Join, token string) (*clockClient, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", join.address())
	if err != nil {
		return nil, err
	}
	return &clockClient{socket: newStampedSocket(conn.(*net.UDPConn)), key: newClockKey(token)}, nil
}

// probe makes one exchange. It fails if the answer does not come within probeTimeout.
func (c *clockClient) probe() (clocktie.Probe, error) {
	var out [probeSize]byte
	var in [probeSize + 1]byte
	_, _ = rand.Read(out[:nonceSize]) // never fails
	c.key.seal('p', out[:])
	c.socket.conn.SetReadDeadline(time.Now().Add(probeTimeout))
	p := clocktie.Probe{Sent: clock.Now()}
	if _, err := c.socket.conn.Write(out[:]); err != nil {
		return p, err
	}
	for {
		n, at, _, err := c.socket.read(in[:])
		if err != nil {
			return p, err
		}
		if !c.key.valid('a', in[:n]) || string(in[:nonceSize]) != string(out[:nonceSize]) {
			continue // an answer that comes late, or from somebody else
		}
		p.Received = int64(binary.BigEndian.Uint64(in[nonceSize:]))
		p.Answered = int64(binary.BigEndian.Uint64(in[nonceSize+8:]))
		p.Arrived = at
		return p, nil
	}
}

func (c *clockClient) close() { c.socket.conn.Close() }
