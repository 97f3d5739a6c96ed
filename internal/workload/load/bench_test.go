package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

// wire is an executor on real sockets: a kilobyte to an echo on the loopback, one byte back. It keeps the instants after each write.
type wire struct {
	addr string
	body []byte
	idle chan net.Conn

	mu   sync.Mutex
	late []int64 // written minus intended
	at   []int64 // written
}

type wireRequest struct {
	w *wire
	c net.Conn
}

func (w *wire) Prepare(ctx context.Context, _ *Request) ArmedRequest {
	select {
	case c := <-w.idle:
		return &wireRequest{w, c}
	default:
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.addr)
	if err != nil {
		panic(err)
	}
	return &wireRequest{w, c}
}

func (w *wire) Close(*Session) {}

func (r *wireRequest) Fire(issue Issue) {
	_, _ = r.c.Write(r.w.body)
	now := clock.Now()
	r.w.mu.Lock()
	r.w.at = append(r.w.at, now)
	if issue.Intended != 0 {
		r.w.late = append(r.w.late, now-issue.Intended)
	}
	r.w.mu.Unlock()
}

func (r *wireRequest) Wait(firstToken func(int64), ended func(Outcome)) {
	var b [1]byte
	_, err := r.c.Read(b[:])
	firstToken(0)
	r.put()
	ended(Outcome{Failed: err != nil})
}

func (r *wireRequest) Discard() { r.put() }

func (r *wireRequest) put() {
	select {
	case r.w.idle <- r.c:
	default:
		_ = r.c.Close()
	}
}

// newWire starts the echo, which answers after a delay.
func newWire(b *testing.B, delay time.Duration) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	w := &wire{addr: l.Addr().String(), body: make([]byte, 1024), idle: make(chan net.Conn, 20000)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, len(w.body))
				for {
					if _, err := io.ReadFull(c, buf); err != nil {
						return
					}
					time.Sleep(delay)
					if _, err := c.Write(buf[:1]); err != nil {
						return
					}
				}
			}()
		}
	}()
	b.Cleanup(func() {
		_ = l.Close()
		for len(w.idle) > 0 {
			_ = (<-w.idle).Close()
		}
	})
	return w
}

func (w *wire) run(b *testing.B, p Phase) *PhaseStats {
	b.Helper()
	g, err := New(one(p), Options{Source: talk(10, 1, 0), Executor: w, Root: rng.New(&testSeed)})
	if err != nil {
		b.Fatal(err)
	}
	r, err := g.Run(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return r.Phases[0]
}

// BenchmarkLag reports how late requests leave, in the real world, with the echo on the same machine.
func BenchmarkLag(b *testing.B) {
	for _, rate := range []float64{50, 200, 1000, 5000} {
		for _, pattern := range []Pattern{Constant, Poisson} {
			b.Run(fmt.Sprintf("%s/%v", pattern, rate), func(b *testing.B) {
				for b.Loop() {
					w := newWire(b, 5*time.Millisecond)
					const length = 3 * time.Second
					f := w.run(b, Phase{Mode: Rate, Pattern: pattern, Rate: rate, Duration: length, Grace: time.Second})
					slices.Sort(w.late)
					q := func(p float64) float64 { return float64(w.late[int(p*float64(len(w.late)-1))]) / 1e3 }
					b.ReportMetric(float64(f.Schedule.Lag.Quantile(0.5))/1e3, "issue-p50-µs")
					b.ReportMetric(float64(f.Schedule.Lag.Quantile(0.99))/1e3, "issue-p99-µs")
					b.ReportMetric(q(0.5), "written-p50-µs")
					b.ReportMetric(q(0.99), "written-p99-µs")
					b.ReportMetric(q(1), "written-max-µs")
					b.ReportMetric(float64(f.Sent)/length.Seconds(), "sent/s")
					b.ReportMetric(float64(f.Schedule.LateArmed), "late-armed")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// BenchmarkLagBusy is BenchmarkLag at 1,000 requests per second while goroutines of this process keep every core busy.
func BenchmarkLagBusy(b *testing.B) {
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	for range runtime.NumCPU() {
		go func() {
			for x := uint64(1); ctx.Err() == nil; x++ {
				for range 1000 {
					x *= 6364136223846793005
				}
			}
		}()
	}
	for b.Loop() {
		w := newWire(b, 5*time.Millisecond)
		f := w.run(b, Phase{Mode: Rate, Pattern: Constant, Rate: 1000, Duration: 3 * time.Second, Grace: time.Second})
		b.ReportMetric(float64(f.Schedule.Lag.Quantile(0.5))/1e3, "issue-p50-µs")
		b.ReportMetric(float64(f.Schedule.Lag.Quantile(0.99))/1e3, "issue-p99-µs")
		b.ReportMetric(float64(f.Sent)/3, "sent/s")
		b.ReportMetric(float64(f.Schedule.LateArmed), "late-armed")
		b.ReportMetric(0, "ns/op")
	}
}

// idler is an executor that waits: what is left is the generator's own cost.
type idler struct{ time.Duration }

func (d idler) Prepare(context.Context, *Request) ArmedRequest { return d }
func (d idler) Close(*Session)                                 {}
func (d idler) Fire(Issue)                                     {}
func (d idler) Discard()                                       {}
func (d idler) Wait(firstToken func(int64), ended func(Outcome)) {
	time.Sleep(d.Duration / 2)
	firstToken(0)
	time.Sleep(d.Duration / 2)
	ended(Outcome{})
}

// BenchmarkSessions reports what ten thousand open sessions of three turns cost.
func BenchmarkSessions(b *testing.B) {
	for b.Loop() {
		g, err := New(one(Phase{Mode: ClosedLoop, Concurrency: 10000, Sessions: 20000}), Options{
			Source: talk(100, 3, 100), Executor: idler{200 * time.Millisecond}, Root: rng.New(&testSeed),
		})
		if err != nil {
			b.Fatal(err)
		}
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		timer := time.AfterFunc(500*time.Millisecond, func() { runtime.ReadMemStats(&during) })
		begin := time.Now()
		r, err := g.Run(b.Context())
		timer.Stop()
		if err != nil || r.Phases[0].Sent != 60000 {
			b.Fatal(err, r.Phases[0].Sent)
		}
		b.ReportMetric(float64(int64(during.StackInuse+during.HeapInuse)-int64(before.StackInuse+before.HeapInuse))/10000, "bytes/session")
		b.ReportMetric(60000/time.Since(begin).Seconds(), "requests/s")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkBurst reports how long a burst of a thousand takes to leave, and the gap between a return and the request that follows it.
func BenchmarkBurst(b *testing.B) {
	b.Run("1000", func(b *testing.B) {
		for b.Loop() {
			w := newWire(b, 100*time.Millisecond)
			f := w.run(b, Phase{Mode: ClosedLoop, Concurrency: 1000, Requests: 1000})
			slices.Sort(w.at)
			b.ReportMetric(float64(w.at[len(w.at)-1]-w.at[0])/1e6, "first-to-last-ms")
			b.ReportMetric(float64(w.at[len(w.at)-1]-f.Started)/1e6, "start-to-last-ms")
			b.ReportMetric(0, "ns/op")
		}
	})
	b.Run("one by one", func(b *testing.B) {
		w := newWire(b, 0)
		w.run(b, Phase{Mode: ClosedLoop, Concurrency: 1, Requests: int64(b.N)})
	})
}
