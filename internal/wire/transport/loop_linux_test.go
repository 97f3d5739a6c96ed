//go:build amd64 || arm64

package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
)

// pairOf returns a connection that a loop watches, and its other end.
func pairOf(t *testing.T, l *readLoop) (*loopSocket, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	s, ok := l.watched(c.(*net.TCPConn)).(*loopSocket)
	if !ok {
		t.Fatal("the loop did not adopt the socket")
	}
	t.Cleanup(func() { s.Close() })
	return s, other.(*net.TCPConn)
}

// newLoop returns a loop that ends with the test.
func newLoop(t *testing.T) *readLoop {
	t.Helper()
	l := newReadLoop(nil)
	if l == nil {
		t.Fatal("the system has no room for a loop")
	}
	t.Cleanup(l.end)
	return l
}

// readers are the two ways to wait for a socket of a loop.
var readers = map[string]func(s *loopSocket, f func()){
	"goroutine": func(_ *loopSocket, f func()) { f() },
	"coroutine": func(s *loopSocket, f func()) {
		over := make(chan struct{})
		s.start(job{f, over})
		<-over
	},
}

// TestLoopDeadlines: a read ends after its deadline and never before it, also if the deadline moved before the read began or moves while it waits.
func TestLoopDeadlines(t *testing.T) {
	for name, run := range readers {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			var all sync.WaitGroup
			for i := range 40 {
				s, _ := pairOf(t, l)
				short := time.Duration(1+rand.IntN(60)) * time.Millisecond
				all.Go(func() {
					var end int64
					moved := make(chan struct{})
					set := func(d time.Duration) {
						end = clock.Now() + int64(d)
						s.SetReadDeadline(time.Now().Add(d))
					}
					switch i % 3 {
					case 0:
						set(short)
						close(moved)
					case 1: // later
						set(short)
						set(short + 50*time.Millisecond)
						close(moved)
					case 2: // earlier, while the read waits
						set(time.Minute)
						go func() {
							defer close(moved)
							<-time.After(10 * time.Millisecond)
							set(short)
						}()
					}
					run(s, func() {
						var b [1]byte
						if n, err := s.Read(b[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !isTimeout(err) {
							t.Errorf("read %d bytes, %v", n, err)
						}
					})
					now := clock.Now()
					<-moved
					if now < end || now > end+int64(30*time.Second) {
						t.Errorf("the read ended %v after its deadline", time.Duration(now-end))
					}
				})
			}
			all.Wait()
		})
	}
}

// TestLoopMissesNothing: bytes that arrive before the read, while it begins to wait or later end its wait. The other end sends the next bytes only after
// the previous ones were read, so a wait that misses its bytes would never end.
func TestLoopMissesNothing(t *testing.T) {
	testhome.Slow(t)
	for name, run := range readers {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			var all sync.WaitGroup
			for i := range 8 {
				s, other := pairOf(t, l)
				pauses := rand.New(rand.NewPCG(uint64(i), 1))
				const rounds = 2000
				all.Go(func() {
					for range rounds {
						for range pauses.IntN(30_000) { // up to some 10 µs: the reader begins to wait
							runtime.KeepAlive(pauses)
						}
						if _, err := io.WriteString(other, "piece"); err != nil {
							t.Error(err)
							return
						}
						var answer [1]byte
						if _, err := io.ReadFull(other, answer[:]); err != nil {
							t.Error(err)
							return
						}
					}
					other.CloseWrite()
				})
				all.Go(func() {
					s.SetReadDeadline(time.Now().Add(time.Minute))
					var b [5]byte
					for range rounds {
						var err error
						run(s, func() { _, err = io.ReadFull(s, b[:]) })
						if err != nil {
							t.Error(err)
							other.Close()
							return
						}
						if _, err := io.WriteString(s, "."); err != nil {
							t.Error(err)
							return
						}
					}
					run(s, func() {
						if n, err := s.Read(b[:]); n != 0 || !errors.Is(err, io.EOF) {
							t.Errorf("%d bytes and %v behind the last piece", n, err)
						}
					})
				})
			}
			all.Wait()
		})
	}
}

// TestLoopCloseEndsRead: closing a socket ends the read that waits for it.
func TestLoopCloseEndsRead(t *testing.T) {
	for name, run := range readers {
		t.Run(name, func(t *testing.T) {
			s, _ := pairOf(t, newLoop(t))
			go func() {
				<-time.After(20 * time.Millisecond)
				s.Close()
			}()
			run(s, func() {
				var b [1]byte
				if n, err := s.Read(b[:]); n != 0 || !errors.Is(err, net.ErrClosed) {
					t.Errorf("read %d bytes, %v", n, err)
				}
			})
			if err := s.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the second close: %v", err)
			}
		})
	}
}

// TestLoopWriteWaits: a write of more than the socket accepts waits for the reader and ends at its deadline, also if that is set while it waits.
func TestLoopWriteWaits(t *testing.T) {
	l := newLoop(t)
	big := make([]byte, 32<<20)
	s, other := pairOf(t, l)
	go io.Copy(io.Discard, other)
	if n, err := s.Write(big); n != len(big) || err != nil {
		t.Errorf("wrote %d bytes of %d, %v", n, len(big), err)
	}
	s, _ = pairOf(t, l)
	go func() {
		<-time.After(20 * time.Millisecond)
		s.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	}()
	if n, err := s.Write(big); n == len(big) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d bytes of %d, %v", n, len(big), err)
	}
}

// eventually reports whether something becomes true within 5 s.
func eventually(what func() bool) bool {
	for range 1000 {
		if what() {
			return true
		}
		<-time.After(5 * time.Millisecond)
	}
	return false
}

// awaitLoopsEnd waits until no loop occupies a processor.
func awaitLoopsEnd(t *testing.T) {
	t.Helper()
	cores := processors.Cores()
	if !eventually(func() bool { return runtime.GOMAXPROCS(0) == cores }) {
		t.Fatalf("an earlier loop does not end: GOMAXPROCS is %d on %d cores", runtime.GOMAXPROCS(0), cores)
	}
}

// TestLoopEnds: a loop that ends takes no more sockets, because its descriptors may be closed or belong to something else. Go's poller
// waits for a later connection of the client.
func TestLoopEnds(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n")
		<-time.After(20 * time.Millisecond)
		io.WriteString(c, "data: 1\n\n")
	})
	awaitLoopsEnd(t)
	o := DefaultOptions()
	o.Loop = true
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	if client.started() == nil {
		t.Fatal("the client has no loop")
	}
	client.Close()
	client.Close()
	awaitLoopsEnd(t)
	newLoop(t) // gets the descriptors of the one that has ended
	var rec record.Record
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client.Do(ctx, &Request{Target: target}, &rec, nil)
	if rec.Error != nil || len(rec.Messages) != 1 {
		t.Errorf("%+v, %d messages", rec.Error, len(rec.Messages))
	}
}

// TestLoopCarriesTheClient: a client reads its answers on a loop, which ends with its last connection and gives everything back.
func TestLoopCarriesTheClient(t *testing.T) {
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	cores := processors.Cores()
	awaitLoopsEnd(t)
	waits := make(chan int64, 1)
	var loop *readLoop
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 18\r\n\r\ndata: 1\n\n")
		<-time.After(20 * time.Millisecond)
		waits <- loop.active.Load()
		io.WriteString(c, "data: 2\n\n")
		io.Copy(io.Discard, r)
	})
	filesBefore := files()
	o := DefaultOptions()
	o.Loop = true
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	loop = client.started()
	var rec record.Record
	client.Do(context.Background(), &Request{Target: target}, &rec, nil)
	if n := <-waits; n != 1 || rec.Error != nil || len(rec.Messages) != 2 {
		t.Errorf("%d readings waited on the loop; %+v, %d messages", n, rec.Error, len(rec.Messages))
	}
	if runtime.GOMAXPROCS(0) != cores+1 || processors.Cores() != cores {
		t.Errorf("GOMAXPROCS is %d on %d cores, then %d", runtime.GOMAXPROCS(0), cores, processors.Cores())
	}
	client.Close()
	if !eventually(func() bool { return runtime.GOMAXPROCS(0) == cores && files() <= filesBefore }) {
		t.Errorf("after Close: GOMAXPROCS %d on %d cores; %d open files, %d before", runtime.GOMAXPROCS(0), cores, files(), filesBefore)
	}
}

// TestLoopCarriesManyAnswers: many requests at once, answered at once, slowly, in pieces or with the end of the connection, arrive whole.
func TestLoopCarriesManyAnswers(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			if _, err := r.Peek(1); err != nil {
				return
			}
			readRequest(r)
			body, events := "", 1+rand.IntN(30)
			for i := range events {
				body += fmt.Sprintf("data: %d\n\n", i)
			}
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Events: %d\r\nContent-Length: %d\r\n\r\n%s", events, len(body), body)
			for len(answer) > 0 {
				n := min(1+rand.IntN(80), len(answer))
				if rand.IntN(4) == 0 {
					n = len(answer)
				}
				if _, err := io.WriteString(c, answer[:n]); err != nil {
					return
				}
				answer = answer[n:]
				if rand.IntN(3) == 0 {
					<-time.After(time.Duration(rand.IntN(300)) * time.Microsecond)
				}
			}
		}
	})
	client := mustClient(t, nil)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 40 {
				var rec record.Record
				client.Do(context.Background(), &Request{Target: target}, &rec, nil)
				want := 0
				for _, h := range rec.ResponseHeaders {
					if h.Name == "X-Events" {
						fmt.Sscan(h.Value, &want)
					}
				}
				if rec.Error != nil || want == 0 || len(rec.Messages) != want {
					t.Errorf("%+v, %d messages of %d", rec.Error, len(rec.Messages), want)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestRestKeepsInstants: with the longest rest the stated instants contain the server's writes as without one, and exact instants stay exact where the
// gaps are long. Messages that a rest joins get honest bounds.
func TestRestKeepsInstants(t *testing.T) {
	for name, c := range map[string]struct {
		gaps  []time.Duration // between the writes, in turn
		exact bool
	}{
		"long gaps":  {[]time.Duration{9 * time.Millisecond}, true},
		"pairs":      {[]time.Duration{200 * time.Microsecond, 9 * time.Millisecond}, false},
		"mixed gaps": {[]time.Duration{time.Millisecond, 3 * time.Millisecond, 100 * time.Microsecond, 7 * time.Millisecond}, false},
	} {
		t.Run(name, func(t *testing.T) {
			rested, shared := restedAnswers(t, true, c.gaps)
			if !rested {
				t.Error("the loop has not rested")
			}
			if rested, _ := restedAnswers(t, false, c.gaps); rested {
				t.Error("the loop has rested")
			}
			if c.exact && shared > 0.1 {
				t.Errorf("%.0f %% of the instants are not exact", 100*shared)
			}
		})
	}
}

// restedAnswers reads 10 streams of 30 events whose writes are logged. It reports whether the loop rested, and the share of the
// instants with a bound.
func restedAnswers(t *testing.T, rest bool, gaps []time.Duration) (rested bool, shared float64) {
	const streams, events = 10, 30
	type write struct{ before, after int64 }
	var mu sync.Mutex
	writes := map[string][]write{}
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		key := c.RemoteAddr().String()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		var log []write
		for i := range events {
			<-time.After(gaps[i%len(gaps)])
			w := write{before: clock.Now()}
			fmt.Fprintf(c, "data: %d\n\n", i)
			w.after = clock.Now()
			log = append(log, w)
		}
		mu.Lock()
		writes[key] = log
		mu.Unlock()
	})
	o := DefaultOptions()
	o.Loop, o.Rest = true, true
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	pace := client.pace
	if !rest {
		client.pace.hold()
	}
	var recs [streams]record.Record
	var all sync.WaitGroup
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			pace.step.Store(int32(len(rests) - 1)) // however short the gaps are
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	for i := range recs {
		all.Go(func() {
			client.Do(context.Background(), &Request{Target: target}, &recs[i], nil)
		})
	}
	all.Wait()
	bounded, late := 0, 0
	for i := range recs {
		rec := &recs[i]
		if rec.Error != nil || len(rec.Messages) != events {
			t.Fatalf("%+v, %d messages", rec.Error, len(rec.Messages))
		}
		mu.Lock()
		log := writes[fmt.Sprintf("%s:%d", rec.Trace.LocalIP, rec.Trace.LocalPort)]
		mu.Unlock()
		for j, m := range rec.Messages {
			w := log[j]
			if m.At < w.before {
				t.Errorf("event %d was written after %d, but came before %d", j, w.before, m.At)
			}
			if m.At-m.UncertainNs > w.after+deliveryTime {
				late++
			}
			if m.UncertainNs > 0 {
				bounded++
			}
		}
	}
	if late > streams*events/100 { // the kernel itself is late now and then on a crowded machine
		t.Errorf("%d instants are after their writes", late)
	}
	return pace.end.Load() > 0, float64(bounded) / (streams * events)
}

// TestRestEndsWithTheStream: an answer ends at once if the end of the stream arrives together with its last bytes, while the loop rests.
func TestRestEndsWithTheStream(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		for i := range 3 {
			<-time.After(300 * time.Microsecond)
			fmt.Fprintf(c, "data: %d\n\n", i)
		}
	})
	o := DefaultOptions()
	o.Loop, o.Rest, o.Timeout = true, true, 10*time.Second
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 50 {
		client.pace.step.Store(int32(len(rests) - 1))
		var rec record.Record
		if client.Do(context.Background(), &Request{Target: target}, &rec, nil); rec.Error != nil || len(rec.Messages) != 3 {
			t.Fatalf("%+v, %d messages", rec.Error, len(rec.Messages))
		}
	}
}
