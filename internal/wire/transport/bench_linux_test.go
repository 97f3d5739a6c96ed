package transport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// The benchmarks compare the client with a bare reader of raw sockets, in one run and against the same server, which is a child
// process so that its work does not count. Every event carries the server's monotonic time just before its write.

const benchServer = "AIPERF_TRANSPORT_BENCH_SERVER"

func init() {
	if os.Getenv(benchServer) != "" {
		serveBench()
		os.Exit(0)
	}
}

func monotonic() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// serveBench answers /N/GAP with N events, GAP ns apart, and /0/0 with a JSON body, until its standard input ends.
func serveBench() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveBenchConn(c)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func serveBenchConn(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	var out bytes.Buffer
	for {
		head, ok := readRequest(r)
		if !ok {
			return
		}
		var n, gap int64
		fmt.Sscanf(head[0], "POST /%d/%d ", &n, &gap)
		if n == 0 {
			io.WriteString(c, okAnswer)
			continue
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		start := time.Now()
		for i := range n {
			time.Sleep(time.Until(start.Add(time.Duration((i + 1) * gap))))
			out.Reset()
			event := fmt.Sprintf("data: {\"id\":\"chatcmpl-123456789012\",\"object\":\"chat.completion.chunk\",\"created\":%d,\"model\":\"mock-model\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n", monotonic())
			fmt.Fprintf(&out, "%x\r\n%s\r\n", len(event), event)
			if i == n-1 {
				out.WriteString("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
			}
			if _, err := c.Write(out.Bytes()); err != nil {
				return
			}
		}
	}
}

func startBench(tb testing.TB) string {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchServer+"=1")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { in.Close(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

// monotonicOffset is the system's monotonic clock minus package clock's, from the tightest of several readings.
var monotonicOffset = func() (offset int64) {
	for i, best := 0, int64(0); i < 50; i++ {
		before := clock.Now()
		m := monotonic()
		if gap := clock.Now() - before; i == 0 || gap < best {
			best, offset = gap, m-before-gap/2
		}
	}
	return offset
}()

func cpuTime() time.Duration {
	var ru unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

const benchGap = 10 * time.Millisecond

// serverTime reads the server's instant out of an event; 0 = none.
func serverTime(raw []byte) int64 {
	_, rest, ok := bytes.Cut(raw, []byte(`"created":`))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(rest, []byte{','})
	n, _ := strconv.ParseInt(string(digits), 10, 64)
	return n
}

// delays gathers (instant here - instant of the server), ns.
type delays struct {
	mu  sync.Mutex
	all []int64
}

func (d *delays) add(some []int64) {
	d.mu.Lock()
	d.all = append(d.all, some...)
	d.mu.Unlock()
}

func (d *delays) at(q float64) float64 {
	slices.Sort(d.all)
	return float64(d.all[int(q*float64(len(d.all)-1))]) / 1e3
}

func rawStream(addr string, events int, gap time.Duration, d *delays) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /%d/%d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", events, int64(gap))
	buf := make([]byte, 16384)
	var mine []int64
	for {
		n, err := c.Read(buf)
		if err != nil {
			return err
		}
		now := monotonic()
		for b := buf[:n]; ; {
			t := serverTime(b)
			if t == 0 {
				break
			}
			mine = append(mine, now-t)
			b = b[bytes.Index(b, []byte(`"created":`))+20:]
		}
		if bytes.HasSuffix(buf[:n], []byte("0\r\n\r\n")) {
			d.add(mine)
			return nil
		}
	}
}

func ourStream(c *Client, addr string, events int, gap time.Duration, d *delays) error {
	t, err := NewTarget(fmt.Sprintf("http://%s/%d/%d", addr, events, int64(gap)))
	if err != nil {
		return err
	}
	var rec record.Record
	first := true
	c.Do(context.Background(), &Request{Target: t, Body: record.Plain([]byte("{}"))}, &rec, func([]record.Message) *record.Error { first = false; return nil })
	if rec.Error != nil || first {
		return fmt.Errorf("%+v", rec.Error)
	}
	var mine []int64
	record.Unpack(rec.Messages)
	for _, m := range rec.Messages {
		if t := serverTime(m.Raw); t != 0 {
			mine = append(mine, m.At+monotonicOffset-t)
		}
	}
	rec.Release()
	d.add(mine)
	return nil
}

// BenchmarkStream: CPU µs per event at 100 streams x 100 events/s, and how far the instants are from the server's writes.
func BenchmarkStream(b *testing.B) {
	const streams, events = 100, 200
	addr := startBench(b)
	run := func(b *testing.B, one func(d *delays) error) {
		d := new(delays)
		cpu, n := cpuTime(), 0
		for b.Loop() {
			var all sync.WaitGroup
			for i := range streams {
				all.Go(func() {
					time.Sleep(time.Duration(i) * benchGap / streams) // spread them as a server's tokens are
					if err := one(d); err != nil {
						b.Error(err)
					}
				})
			}
			all.Wait()
			n += streams * events
		}
		b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(n), "cpu-µs/event")
		b.ReportMetric(d.at(.5), "p50-µs")
		b.ReportMetric(d.at(.99), "p99-µs")
	}
	b.Run("raw", func(b *testing.B) { run(b, func(d *delays) error { return rawStream(addr, events, benchGap, d) }) })
	b.Run("ours", func(b *testing.B) {
		c := mustClient(b, nil)
		run(b, func(d *delays) error { return ourStream(c, addr, events, benchGap, d) })
	})
	b.Run("ours-user-stamps", func(b *testing.B) {
		c := mustClient(b, func(o *Options) { o.UserStamps = true })
		run(b, func(d *delays) error { return ourStream(c, addr, events, benchGap, d) })
	})
}

// BenchmarkRequest: CPU µs of a request that is not streamed.
func BenchmarkRequest(b *testing.B) {
	addr := startBench(b)
	measure := func(b *testing.B, one func() error) {
		b.ReportAllocs()
		cpu, n := cpuTime(), 0
		for b.Loop() {
			if err := one(); err != nil {
				b.Fatal(err)
			}
			n++
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(n), "cpu-µs/request")
	}
	b.Run("raw", func(b *testing.B) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		req := []byte("POST /0/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		buf := make([]byte, 4096)
		measure(b, func() error {
			c.Write(req)
			_, err := c.Read(buf)
			return err
		})
	})
	b.Run("ours", func(b *testing.B) {
		c := mustClient(b, nil)
		req := &Request{Target: mustTarget(b, "http://"+addr+"/0/0"), Body: record.Plain([]byte("{}"))}
		measure(b, func() error {
			var rec record.Record
			c.Do(context.Background(), req, &rec, nil)
			rec.Release()
			if rec.Error != nil {
				return fmt.Errorf("%+v", rec.Error)
			}
			return nil
		})
	})
}

// kernelStamps waits until the kernel stamps what comes in, and returns the statistics then. A worker of the kernel turns stamps on after the first
// socket asked for them. On a busy machine the first reads come earlier: 8 of 100 here.
func kernelStamps(t *testing.T, c *Client, addr string) Stats {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); c.Stats().KernelReads == 0; {
		if err := ourStream(c, addr, 1, time.Millisecond, new(delays)); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("no read has a stamp of the kernel: %+v", c.Stats())
		}
	}
	return c.Stats()
}

// The stamps must be the kernel's, and near the server's writes even while goroutines keep all processors busy. (The gap is wider than
// the time slice of a goroutine: what the kernel has joined before it was read has the stamp of its last segment.)
func TestKernelStamps(t *testing.T) {
	addr := startBench(t)
	c := mustClient(t, nil)
	before := kernelStamps(t, c, addr)
	d := new(delays)
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			_, _ = os.Stat("/") // a blocking system call wakes the runtime's monitor, which may sleep for a minute and which interrupts this loop
			for !stop.Load() {
			}
		})
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := ourStream(c, addr, 10, 60*time.Millisecond, d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	stop.Store(true)
	busy.Wait()
	s := c.Stats()
	kernel, user := s.KernelReads-before.KernelReads, s.UserReads-before.UserReads
	if kernel == 0 || user > kernel/10 || c.ClockStepped() {
		t.Fatalf("%d reads with the kernel's stamp, %d without: %+v", kernel, user, s)
	}
	// A tenth of the writes is enough: on a busy machine the server, too, may wait between its instant and its write.
	if lo, tenth := d.at(0), d.at(.1); lo < -5 || tenth > 1000 {
		t.Errorf("instants lie %.1f µs (least) and %.1f µs (a tenth of them less) after the server's writes", lo, tenth)
	}
	t.Logf("busy client: p50 %.1f µs, p99 %.1f µs, max %.1f µs", d.at(.5), d.at(.99), d.at(1))
}

// A server with Nagle's algorithm that writes its answers in two pieces sends the second one when the first is acknowledged. It must not wait for the
// 40 ms after which the kernel acknowledges by itself, on a new connection or a used one.
func TestNoDelayedAcknowledgements(t *testing.T) {
	for name, pieces := range map[string][2]string{
		"body":   {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "{}"},
		"head":   {"HTTP/1.1 200 OK\r\n", "Content-Length: 2\r\n\r\n{}"},
		"stream": {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n", "9\r\ndata: b\n\n\r\n0\r\n\r\n"},
	} {
		target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			c.SetNoDelay(false)
			for {
				if _, ok := readRequest(r); !ok {
					return
				}
				io.WriteString(c, pieces[0])
				io.WriteString(c, pieces[1])
			}
		})
		c := mustClient(t, nil)
		late := 0
		const requests = 50
		for range requests {
			began := clock.Now()
			rec := new(record.Record)
			c.Do(context.Background(), &Request{Target: target}, rec, nil)
			if rec.Error != nil {
				t.Fatal(name, rec.Error)
			}
			if clock.Now()-began > 30e6 {
				late++
			}
		}
		if late > requests/5 {
			t.Errorf("%s: %d of %d answers took more than 30 ms", name, late, requests)
		}
	}
}
