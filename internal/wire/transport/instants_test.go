package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// certificate is one that nobody trusts.
func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Certificates[0]
}

// paced is a server that writes four events, the last three while the client does not read, and knows when it wrote each.
type paced struct {
	target *Target
	wrote  []int64       // instant before the write of each event
	stop   chan struct{} // the client has read the first event
	goOn   chan struct{} // the last event was written
}

const pacedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func newPaced(t testing.TB, secret bool) *paced {
	p := &paced{stop: make(chan struct{}), goOn: make(chan struct{})}
	cert := certificate(t)
	p.target = rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		w := io.Writer(c)
		if secret {
			s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}})
			w, r = s, bufio.NewReader(s)
		}
		if _, ok := readRequest(r); !ok {
			return
		}
		io.WriteString(w, pacedHead)
		for i := range 4 {
			if i == 1 {
				<-p.stop
			}
			p.wrote = append(p.wrote, clock.Now())
			io.WriteString(w, "b\r\ndata: abc\n\n\r\n")
			if i > 0 {
				<-time.After(3 * time.Millisecond)
			}
		}
		close(p.goOn)
		io.WriteString(w, "0\r\n\r\n")
		r.ReadByte()
	})
	if secret {
		p.target = mustTarget(t, "https://"+p.target.Address())
	}
	return p
}

// ask sends a request and stops reading from the first event until the last is written.
func (p *paced) ask(c *Client) *record.Record {
	rec := new(record.Record)
	n := 0
	c.Do(context.Background(), &Request{Target: p.target}, rec, func([]record.Message) *record.Error {
		if n++; n == 1 {
			close(p.stop)
			<-p.goOn
		}
		return nil
	})
	return rec
}

// What a stalled client finds in one read came between the read before and this one, and the record says so.
func TestInstantsOfAStalledClientAreBounds(t *testing.T) {
	for _, secret := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS=%v", secret), func(t *testing.T) {
			p := newPaced(t, secret)
			rec := p.ask(mustClient(t, func(o *Options) { o.TLS.Insecure = true }))
			if rec.Error != nil || len(rec.Messages) != 4 {
				t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
			}
			for i, m := range rec.Messages {
				before, next := p.wrote[i], clock.Now()
				if i < 3 {
					next = p.wrote[i+1]
				}
				if m.At < before || m.At-m.UncertainNs > next {
					t.Errorf("event %d was written after %d and before %d, but came between %d and %d", i, before, next, m.At-m.UncertainNs, m.At)
				}
			}
			m := rec.Messages
			if m[1].UncertainNs < p.wrote[3]-p.wrote[2] || m[2].UncertainNs == 0 || m[0].UncertainNs != 0 && m[0].Clock == record.KernelClock {
				t.Errorf("uncertain by %d, %d, %d ns", m[0].UncertainNs, m[1].UncertainNs, m[2].UncertainNs)
			}
			tr := rec.Trace
			if tr.FirstUncertainNs != m[0].UncertainNs || tr.GapUncertainNs < m[1].UncertainNs || tr.SharedReads < 2 || tr.SharedReads > 3 {
				t.Errorf("first %d, gap %d, %d shared", tr.FirstUncertainNs, tr.GapUncertainNs, tr.SharedReads)
			}
			if waited := p.wrote[3] - p.wrote[2]; tr.ReadDelayMax < waited {
				t.Errorf("the first event of the stall waited %d ns at least, the longest read delay is %d", waited, tr.ReadDelayMax)
			}
		})
	}
}

// A client that keeps up has certain instants, whatever the transfer and content coding.
func TestInstantsOfAPromptClientAreCertain(t *testing.T) {
	for name, parts := range map[string][]string{
		"chunked":   {pacedHead + "b\r\ndata: abc\n\n\r\n", "b\r\ndata: abc\n\n\r\n", "0\r\n\r\n"},
		"length":    {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 22\r\n\r\ndata: abc\n\n", "data: abc\n\n"},
		"body":      {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{}", "  "},
		"two reads": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			next := make(chan struct{}, 1)
			target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				for i, part := range parts {
					if i > 0 && name != "body" && name != "two reads" && i < 2 {
						<-next
					}
					io.WriteString(c, part)
				}
				r.ReadByte()
			})
			var rec record.Record
			seen := 0
			mustClient(t, nil).Do(context.Background(), &Request{Target: target}, &rec, func([]record.Message) *record.Error {
				if seen++; seen == 1 {
					next <- struct{}{}
				}
				return nil
			})
			if rec.Error != nil || len(rec.Messages) == 0 {
				t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
			}
			// The kernel begins to stamp a moment after the first socket of the machine asks for it: the first segments may have no stamp.
			if m := rec.Messages[0]; m.Clock == record.KernelClock && (rec.Trace.FirstUncertainNs != 0 || m.UncertainNs != 0) {
				t.Errorf("uncertain by %d", rec.Trace.FirstUncertainNs)
			}
		})
	}
}

// The end of a body that only the end of the connection tells was not stamped by the kernel: the last byte came earlier.
func TestInstantOfABodyThatEndsWithItsConnection(t *testing.T) {
	rec := answer(t, &Request{}, "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{}")
	m := rec.Messages[0]
	if m.Clock != record.UserClock || m.UncertainNs <= 0 || m.At-m.UncertainNs < rec.Start || rec.Trace.EndUncertainNs <= 0 {
		t.Errorf("%+v, started %d, end uncertain by %d", m, rec.Start, rec.Trace.EndUncertainNs)
	}
}

// Ciphertext is cut at the ends of records, however it comes.
func FuzzRecordCutter(f *testing.F) {
	f.Add([]byte{3, 0, 200, 16}, uint64(7))
	f.Fuzz(func(t *testing.T, lengths []byte, seed uint64) {
		var wire []byte
		ends := map[int]bool{}
		for _, n := range lengths {
			wire = append(wire, 23, 3, 3, 0, n)
			wire = append(wire, make([]byte, n)...)
			ends[len(wire)] = true
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		var cut recordCutter
		from, at := 0, 0
		for at < len(wire) {
			piece := wire[at:min(len(wire), at+1+rng.IntN(40))]
			for len(piece) > 0 {
				n := cut.take(piece, 1+rng.IntN(30))
				if n < 1 {
					t.Fatal("nothing taken")
				}
				for e := at + 1; e < at+n; e++ {
					if ends[e] {
						t.Fatalf("%d bytes from %d cross the end of a record at %d", n, at, e)
					}
				}
				at += n
				piece = piece[n:]
				if ends[at] {
					if cut.have != 0 {
						t.Fatalf("record from %d to %d is not over", from, at)
					}
					from = at
				}
			}
		}
	})
}

func TestUncertainty(t *testing.T) {
	event := func(u int64) record.Message { return record.Message{Raw: []byte("data: x"), UncertainNs: u} }
	done := record.Message{Raw: []byte("data: [DONE]"), UncertainNs: 99}
	for _, c := range []struct {
		messages   []record.Message
		marks      []int
		first, gap int64
	}{
		{nil, nil, 0, 0},
		{[]record.Message{event(5)}, nil, 5, 0},
		{[]record.Message{event(5), done}, []int{1}, 5, 0},
		{[]record.Message{event(0), event(7), event(3), done}, []int{3}, 0, 7},
		{[]record.Message{event(0), event(7), done, event(8), done}, []int{2, 4}, 0, 8},
		{[]record.Message{event(9), event(0)}, nil, 9, 9},
	} {
		if first, gap := Uncertainty(c.messages, c.marks); first != c.first || gap != c.gap {
			t.Errorf("%+v: %d, %d", c, first, gap)
		}
	}
}

// TestAMessageIsSharedOnce: a message that the kernel did not stamp may be known to be the last of its read before a packet tells its instant.
func TestAMessageIsSharedOnce(t *testing.T) {
	for _, clock := range []record.Clock{record.UserClock, record.KernelClock} {
		x := &Exchange{arena: newArena(), in: &readState{arrival: arrival{at: 200_000, clock: clock}}, rec: new(record.Record)}
		x.arena.messages = append(x.arena.messages, x.stamped(record.Message{Raw: []byte("data: x")}))
		if x.trace.SharedReads != 1 {
			t.Fatalf("clock %v: %d messages count as shared at first", clock, x.trace.SharedReads)
		}
		x.markExact(x.tailOf(1))
		x.settleMessage(&x.arena.messages[0], stampQuery{at: 200_000, user: 210_000}, 190_000, true)
		if n := x.trace.SharedReads; n != 0 {
			t.Errorf("clock %v: %d messages count as shared", clock, n)
		}
		x.arena.free()
	}
}
