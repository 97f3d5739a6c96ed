package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// socketModel is a socket of TCP and the connection that reads it, in a time of whole steps.
type socketModel struct {
	conn
	fd      int32
	arrived []burst // unread bytes, in order
	ended   int64   // instant at which the end of the stream arrived; 0 = not yet
	over    bool    // the client has read the end
	tried   *attempt
}

// burst is a number of bytes that arrive at one instant.
type burst struct {
	at    int64
	bytes int
}

// take removes at most as many bytes as given and returns their number.
func (s *socketModel) take(most int) (n int) {
	for n < most && len(s.arrived) > 0 {
		first := &s.arrived[0]
		part := min(first.bytes, most-n)
		n += part
		if first.bytes -= part; first.bytes == 0 {
			s.arrived = s.arrived[1:]
		}
	}
	return n
}

// readable tells whether epoll lists the socket.
func (s *socketModel) readable() bool { return len(s.arrived) > 0 || s.ended != 0 }

// emptinessModel is a client with some sockets. Each step is one thing that some goroutine or the kernel does; any order of them is possible.
type emptinessModel struct {
	t       *testing.T
	log     emptinessLog
	now     int64
	sockets []*socketModel
	began   int64         // a check began
	polled  []readySocket // it has asked the kernel; nil = not yet
	reads   int
}

func newEmptinessModel(t *testing.T, sockets int) *emptinessModel {
	m := &emptinessModel{t: t}
	for i := range sockets {
		s := &socketModel{fd: int32(i)}
		s.unread = m.log.enter(i)
		s.realTime = clock.NewRealTimeOffset()
		m.sockets = append(m.sockets, s)
	}
	return m
}

// step does one thing that is possible now.
func (m *emptinessModel) step(rng *rand.Rand) {
	m.now++
	s := m.sockets[rng.IntN(len(m.sockets))]
	switch rng.IntN(8) {
	case 0, 1:
		m.arrive(s, rng)
	case 2:
		m.check()
	case 3:
		m.publish()
	case 4, 5:
		m.attempt(s)
	default:
		m.read(s)
	}
}

// arrive puts bytes into the socket, or rarely the end of the stream.
func (m *emptinessModel) arrive(s *socketModel, rng *rand.Rand) {
	switch {
	case s.ended != 0:
	case rng.IntN(40) == 0:
		s.ended = m.now
	default:
		n := 1 + rng.IntN(3)
		if rng.IntN(5) == 0 {
			n = scratchSize - 2 + rng.IntN(4)
		}
		s.arrived = append(s.arrived, burst{m.now, n})
	}
}

// check begins a check, or asks the kernel for one that has begun.
func (m *emptinessModel) check() {
	if m.began == 0 {
		m.began = m.now
		return
	}
	if m.polled != nil {
		return
	}
	m.polled = []readySocket{}
	for _, s := range m.sockets {
		if s.readable() {
			m.polled = append(m.polled, readySocket(unix.EpollEvent{Fd: s.fd}))
		}
	}
}

// publish ends a check.
func (m *emptinessModel) publish() {
	if m.polled != nil {
		m.log.store(m.began, m.polled)
		m.began, m.polled = 0, nil
	}
}

// attempt begins a read: its goroutine may lose the processor before the system call.
func (m *emptinessModel) attempt(s *socketModel) {
	if s.tried == nil && !s.over {
		s.tried = &attempt{m.now, s.unread.emptyAt()}
	}
}

// read ends a read and compares what is known of its bytes with the truth.
func (m *emptinessModel) read(s *socketModel) {
	a := s.tried
	if a == nil {
		return
	}
	s.tried = nil
	came := s.ended
	if len(s.arrived) > 0 {
		came = s.arrived[0].at
	}
	n := s.take(scratchSize)
	if n == 0 && s.ended == 0 {
		s.recordEmptyRead(*a)
		return
	}
	s.stamp(*a, n, 0)
	s.over = n == 0
	m.reads++
	if came < s.since {
		m.t.Fatalf("step %d: bytes that came at %d are said to have come after %d", m.now, came, s.since)
	}
}

// TestEmptinessContainsTheArrival: whatever the order of arrivals, checks and reads, bytes came after the instant that the read states.
func TestEmptinessContainsTheArrival(t *testing.T) {
	reads := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 24))
		m := newEmptinessModel(t, 1+int(seed)%4)
		for range 400 {
			m.step(rng)
		}
		reads += m.reads
	}
	if reads < 5000 {
		t.Errorf("only %d reads", reads)
	}
}

// TestEmptinessIsNarrow: where a check ran between the read before and the arrival, the bound is that check.
func TestEmptinessIsNarrow(t *testing.T) {
	m := newEmptinessModel(t, 2)
	a, b := m.sockets[0], m.sockets[1]
	checkAt := func(at int64) {
		m.now = at
		m.check()
		m.check()
		m.publish()
	}
	readAt := func(s *socketModel, at int64) int64 {
		m.now = at
		m.attempt(s)
		m.read(s)
		return s.since
	}
	checkAt(10)
	a.arrived = []burst{{15, 1}}
	checkAt(20) // lists a
	checkAt(30)
	b.arrived = []burst{{35, 1}}
	if got := readAt(a, 40); got != 10 {
		t.Errorf("the bytes of 15 came after %d, want 10: two checks have found them", got)
	}
	if got := readAt(b, 41); got != 30 {
		t.Errorf("the bytes of 35 came after %d, want 30", got)
	}
	a.arrived = []burst{{45, 1}}
	if got := readAt(a, 50); got != 40 {
		t.Errorf("the bytes of 45 came after %d, want 40, the read before", got)
	}
}

// TestChecksOfRealSockets: a socket with unread bytes stays at the last check before they came, others move on; closed ones do no harm.
func TestChecksOfRealSockets(t *testing.T) {
	var log emptinessLog
	defer log.close()
	var states [2]*socketState
	var pairs [2][2]int
	for i := range pairs {
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		pairs[i] = p
		defer unix.Close(p[1])
		if states[i] = log.add(p[0]); states[i] == nil {
			t.Fatal("a socket was refused")
		}
	}
	log.check()
	before := log.last.Load()
	if _, err := unix.Write(pairs[0][1], []byte("x")); err != nil || before == 0 {
		t.Fatal(err, before)
	}
	for range 3 {
		log.check()
	}
	if got := states[0].emptyAt(); got != before {
		t.Errorf("the socket with bytes was empty at %d, want %d", got, before)
	}
	if got := states[1].emptyAt(); got != log.last.Load() || got == before {
		t.Errorf("the other one was empty at %d, want %d", got, log.last.Load())
	}
	unix.Close(pairs[0][0])
	unix.Close(pairs[1][0])
	log.check()
	if log.last.Load() == before {
		t.Error("no check after sockets were closed")
	}
}

// TestChecksFindMoreSocketsThanExpected: a check whose list is full proves nothing, and the next one has room for all.
func TestChecksFindMoreSocketsThanExpected(t *testing.T) {
	var log emptinessLog
	defer log.close()
	for range firstEvents + 10 {
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(p[0])
		defer unix.Close(p[1])
		log.add(p[0])
		if _, err := unix.Write(p[1], []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	log.check()
	if log.last.Load() != 0 {
		t.Error("a check whose list was full counts")
	}
	log.check()
	if log.last.Load() == 0 || log.pause.Load() != (firstEvents+10)*socketsPause {
		t.Errorf("the second check began at %d, the next one waits %d ns", log.last.Load(), log.pause.Load())
	}
}

// TestChecksOfReaders: a reader checks when the pause since the last check is over, and the pause has a lower limit. A socket that the kernel does not
// check is not known to be empty.
func TestChecksOfReaders(t *testing.T) {
	var log emptinessLog
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	s := log.add(p[0])
	log.check()
	last := log.last.Load()
	if log.pause.Load() != minPause {
		t.Errorf("the next check waits %d ns", log.pause.Load())
	}
	if s.checkIfDue(last + minPause - 1); log.last.Load() != last {
		t.Error("a check before the pause is over")
	}
	if s.checkIfDue(last + minPause); log.last.Load() == last {
		t.Error("no check when the pause is over")
	}
	log.close()
	if log.add(p[1]) != nil || log.polled.epoll.Load() != 0 {
		t.Error("a socket was taken in after the end")
	}
}

// TestStatesOutliveTheirList: the state of a socket stays when later sockets need a longer list.
func TestStatesOutliveTheirList(t *testing.T) {
	var log emptinessLog
	s := log.enter(3)
	for _, fd := range []int{64, 128, 1000} {
		log.enter(fd)
		log.store(int64(fd), []readySocket{readySocket(unix.EpollEvent{Fd: 3})})
		if got := s.readable.Load(); got != int64(fd) {
			t.Errorf("after socket %d: readable at %d", fd, got)
		}
	}
}

// lumpServer writes one event, then, when it may, two in one write. It knows its instants.
type lumpServer struct {
	target        *Target
	next          chan struct{} // the second write may begin
	before, after int64         // around it
	done          chan struct{}
}

// newLumpServer speaks HTTP/1.1 or HTTP/2. finish ends the connection right behind the second write, so long after it.
func newLumpServer(t *testing.T, secret, http2 bool) *lumpServer {
	s := &lumpServer{next: make(chan struct{}), done: make(chan struct{})}
	timed := func(write func()) {
		<-s.next
		s.before = clock.Now()
		write()
		s.after = clock.Now()
		close(s.done)
	}
	if http2 {
		s.target = rawH2(t, secret, func(w *h2Wire) {
			id := w.request()
			w.stream(id)
			w.WriteData(id, false, []byte("data: 1\n\n"))
			w.flush()
			w.WriteData(id, true, []byte("data: 2\n\ndata: 3\n\n"))
			timed(w.flush)
		})
		return s
	}
	cert := certificate(t)
	s.target = rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		w := io.Writer(c)
		if secret {
			over := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}})
			w, r = over, bufio.NewReader(over)
		}
		if _, ok := readRequest(r); !ok {
			return
		}
		io.WriteString(w, pacedHead+"9\r\ndata: 1\n\n\r\n")
		timed(func() { io.WriteString(w, "12\r\ndata: 2\n\ndata: 3\n\n\r\n0\r\n\r\n") })
		r.ReadByte()
	})
	if secret {
		s.target = mustTarget(t, "https://"+s.target.Address())
	}
	return s
}

// Bytes that share their read came after the last check that found their connection empty, whichever of the two was long ago: the check, since
// the client did not run, or the read.
func TestSharedReadsGoBackToTheLastCheck(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		for _, http2 := range []bool{false, true} {
			for _, userStamps := range []bool{false, true} {
				t.Run(fmt.Sprintf("stalled=%v/HTTP2=%v/user=%v", stalled, http2, userStamps), func(t *testing.T) {
					bothWays(t, func(t *testing.T, secret bool) { sharedRead(t, stalled, http2, secret, userStamps) })
				})
			}
		}
	}
}

// foundEmpty checks until a check has found the one socket of a client empty, and gives an instant before it. A reader may be at a check, or not have come
// to its bytes yet.
func foundEmpty(t *testing.T, c *Client) int64 {
	for range 1000 {
		before := clock.Now()
		c.CheckEmptiness()
		if list := c.empty.sockets.list.Load(); list != nil {
			for i := range *list {
				if s := (*list)[i].Load(); s != nil && s.emptyAt() >= before {
					return before
				}
			}
		}
		<-time.After(time.Millisecond)
	}
	t.Error("no check has found the socket empty")
	return 0
}

func sharedRead(t *testing.T, stalled, http2, secret, userStamps bool) {
	s := newLumpServer(t, secret, http2)
	c := mustClient(t, func(o *Options) { o.HTTP2, o.TLS.Insecure, o.UserStamps = http2, true, userStamps })
	var checked int64 // the last check before the second write
	go func() {
		if !stalled {
			checked = foundEmpty(t, c)
			close(s.next)
		}
	}()
	var rec record.Record
	n := 0
	c.Do(context.Background(), &Request{Target: s.target}, &rec, func([]record.Message) *record.Error {
		if n++; n == 1 && stalled { // nobody reads while the server writes, but checks run
			checked = foundEmpty(t, c)
			close(s.next)
			<-s.done
			for range 3 {
				<-time.After(time.Millisecond)
				c.CheckEmptiness()
			}
		}
		return nil
	})
	if rec.Error != nil || len(rec.Messages) != 3 {
		t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
	}
	<-s.done
	for _, m := range rec.Messages[1:] {
		if m.At < s.before || m.At-m.UncertainNs > s.after {
			t.Errorf("the event came between %d and %d, but was written between %d and %d", m.At-m.UncertainNs, m.At, s.before, s.after)
		}
		if m.UncertainNs > 0 && m.At-m.UncertainNs < checked-deliveryTime {
			t.Errorf("the bound lies %v before the last check", time.Duration(checked-(m.At-m.UncertainNs)))
		}
	}
	if first := rec.Messages[1]; userStamps && (first.Clock != record.UserClock || first.UncertainNs <= 0) {
		t.Errorf("%v, uncertain by %d: an instant of our own is never exact", first.Clock, first.UncertainNs)
	}
	if by := rec.Trace.EndUncertainNs; userStamps && by <= 0 || rec.End-by < rec.Start {
		t.Errorf("the end is uncertain by %d", by)
	}
}

// The end of the stream is a separate segment, whose stamp replaces that of the bytes before it if they are unread.
func TestAMessageBehindWhichTheStreamEnded(t *testing.T) {
	for name, head := range map[string]string{"length": "Content-Length: 22\r\n", "until close": ""} {
		t.Run(name, func(t *testing.T) {
			var before, after int64
			next, done := make(chan struct{}), make(chan struct{})
			target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"+head+"\r\ndata: abc\n\n")
				<-next
				before = clock.Now()
				io.WriteString(c, "data: def\n\n")
				after = clock.Now()
				<-time.After(20 * time.Millisecond)
				c.Close()
				close(done)
			})
			var rec record.Record
			n := 0
			mustClient(t, nil).Do(context.Background(), &Request{Target: target}, &rec, func([]record.Message) *record.Error {
				if n++; n == 1 {
					close(next)
					<-done
				}
				return nil
			})
			if rec.Error != nil || len(rec.Messages) != 2 {
				t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
			}
			if m := rec.Messages[1]; m.At < before || m.At-m.UncertainNs > after {
				t.Errorf("the event came between %d and %d, but was written between %d and %d", m.At-m.UncertainNs, m.At, before, after)
			}
		})
	}
}

// TestSendUncertainty: a request left between the instants around its write. Where the socket took it in pieces, the time in which the connection
// was busy is not the client's.
func TestSendUncertainty(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		name               string
		end, paced, wanted int64
	}{
		{"a prompt write", SureSend, 0, 0}, {"a client that lost the processor", 7 * ms, 0, 7 * ms},
		{"a long body", 80 * ms, 80 * ms, 0}, {"a long body, the client late", 80 * ms, 70 * ms, 10 * ms},
	} {
		x := &Exchange{sent: 1 + c.end, sending: sendProgress{paced: c.paced}}
		if got := x.sendUncertainty(&record.Trace{SendStart: 1, SendEnd: 1 + c.end}); got != c.wanted {
			t.Errorf("%s: %v, want %v", c.name, time.Duration(got), time.Duration(c.wanted))
		}
	}
	if got := new(Exchange).sendUncertainty(&record.Trace{SendStart: 1}); got != 0 {
		t.Errorf("a request that was not sent: %d", got)
	}
}

// BenchmarkEmptinessCheck: what a check costs, by the sockets that got bytes since the check before and were read.
func BenchmarkEmptinessCheck(b *testing.B) {
	for _, fresh := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("fresh=%d", fresh), func(b *testing.B) {
			var log emptinessLog
			defer log.close()
			var pairs [][2]int
			for range 100 {
				p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
				if err != nil {
					b.Fatal(err)
				}
				defer unix.Close(p[0])
				defer unix.Close(p[1])
				log.add(p[0])
				pairs = append(pairs, p)
			}
			var one [1]byte
			for b.Loop() {
				b.StopTimer()
				for _, p := range pairs[:fresh] {
					_, _ = unix.Write(p[1], one[:]) // our own pair
					_, _ = unix.Read(p[0], one[:])
				}
				b.StartTimer()
				log.check()
			}
		})
	}
}
