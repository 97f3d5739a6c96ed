package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/sim/mockserver"
)

// drops is a socket filter (socket(7), SO_ATTACH_FILTER) that loses segments with content. What it looks at begins with the TCP header, which
// has 60 bytes at most: handshakes and bare acknowledgements pass.
var drops = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_LEN},
	{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 60, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 20},
}

// lossy gives connections that lose the first that they carry, and nothing afterwards.
type lossy struct{ net.Listener }

func (l lossy) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		go afterLoss([]*net.TCPConn{c.(*net.TCPConn)}, func() { onEach([]*net.TCPConn{c.(*net.TCPConn)}, regain) })
	}
	return c, err
}

// regain ends the loss.
func regain(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) } // one that loses nothing is well as it is

// onEach does something with the descriptors of connections; false = all of them are closed.
func onEach(conns []*net.TCPConn, do func(fd uintptr)) bool {
	open := false
	for _, c := range conns {
		raw, err := c.SyscallConn()
		open = err == nil && raw.Control(do) == nil || open
	}
	return open
}

// afterLoss calls something as soon as one of some connections has lost a segment, by the kernel's count (socket(7), SO_MEMINFO).
func afterLoss(conns []*net.TCPConn, do func()) {
	const drops = 8 // SK_MEMINFO_DROPS of linux/sock_diag.h
	var lost uint32
	for range time.Tick(2 * time.Millisecond) {
		open := onEach(conns, func(fd uintptr) {
			var info [drops + 1]uint32
			size := uint32(unsafe.Sizeof(info))
			if _, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0); e == 0 {
				lost += info[drops]
			}
		})
		if lost > 0 || !open {
			do()
			return
		}
	}
}

// lossyListener makes one whose connections lose the first that they carry.
func lossyListener(t *testing.T) net.Listener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if ctl := raw.Control(func(fd uintptr) { // connections inherit it
			err = lose(fd)
		}); ctl != nil {
			return ctl
		}
		return err
	}}
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return lossy{l}
}

func lose(fd uintptr) error {
	return unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(drops)), Filter: &drops[0]})
}

// TestLossyPath: the kernel's word on every connection is in the records, and the verdict says how many requests saw a retransmit: the first
// of each connection.
func TestLossyPath(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	s.Listener.Close()
	s.Listener = lossyListener(t)
	s.Start()
	t.Cleanup(s.Close)
	b := whole(t.TempDir(), s.URL, 40)
	b.Phases[0].Concurrency = ptr(8)
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
	if err != nil {
		t.Fatal(err)
	}
	v, sum := run.Validity, run.Profiling.Value("tcp_retransmits", metric.Sum)
	if v.Paths != 40 || v.ResentRequests != 8 || v.ResentSegments < 8 || float64(v.ResentSegments) != sum || v.SmoothedRTT <= 0 {
		t.Errorf("%+v, %v segments", v.PathUse, sum)
	}
	if notes := strings.Join(v.Notes, "\n"); !strings.Contains(notes, "8 of 40 requests saw a retransmit") || !strings.Contains(notes, "share a machine") || strings.Contains(notes, "the network loses") {
		t.Errorf("no note says it: %s", notes)
	}
	if w := run.Profiling.Value("tcp_congestion_window", metric.Min); !(w >= 1) {
		t.Errorf("a congestion window of %v segments", w)
	}
}

// kept remembers its connections, to lose what they carry in the middle of a run.
type kept struct {
	net.Listener
	mu    sync.Mutex
	conns []*net.TCPConn
}

func (k *kept) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.conns = append(k.conns, c.(*net.TCPConn))
	}
	return c, err
}

// all are its connections so far.
func (k *kept) all() []*net.TCPConn {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.conns)
}

// TestLossyStreams: over HTTP/2, plain and TLS, every stream that was under way when its connection lost segments says so.
func TestLossyStreams(t *testing.T) {
	for _, secure := range []bool{false, true} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		k := &kept{Listener: l}
		var served atomic.Int64
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if served.Add(1) == 20 {
				all := k.all()
				onEach(all, func(fd uintptr) { _ = lose(fd) }) // the test sees it where it fails
				go afterLoss(all, func() { onEach(all, regain) })
			}
			answer(w)
		}))
		s.Listener.Close()
		s.Listener = k
		b := whole(t.TempDir(), "", 60)
		if b.Endpoint.HTTPVersion = config.HTTP2; secure {
			s.EnableHTTP2, b.Endpoint.TLS.Insecure = true, true
			s.StartTLS()
		} else {
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.Start()
		}
		b.Endpoint.URLs = []string{s.URL}
		b.Phases[0].Concurrency = ptr(8)
		run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		v, sum := run.Validity, run.Profiling.Value("tcp_retransmits", metric.Sum)
		if run.Profiling.Valid != 60 || v.Paths != 60 || v.ResentRequests < 1 || v.ResentRequests > 40 || float64(v.ResentSegments) != sum || v.SmoothedRTT <= 0 {
			t.Errorf("TLS %t: %d valid, %+v, %v segments", secure, run.Profiling.Valid, v.PathUse, sum)
		}
		if notes, want := strings.Join(v.Notes, "\n"), fmt.Sprintf("%d of 60 requests saw a retransmit", v.ResentRequests); !strings.Contains(notes, want) {
			t.Errorf("no note says %q: %s", want, notes)
		}
	}
}

// TestLossyCalls: the same over gRPC, whose connections begin in trouble: the first call of those that did saw it.
func TestLossyCalls(t *testing.T) {
	options, err := mockserver.ParseQuery("ttft=5ms&itl=1ms&tokens=5")
	if err != nil {
		t.Fatal(err)
	}
	server, err := mockserver.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() }) // its clients are gone
	front := lossyListener(t)
	t.Cleanup(func() { front.Close() })
	go func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			back, err := new(net.Dialer).DialContext(context.Background(), "tcp", server.Addr())
			if err != nil {
				c.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{c, back}, {back, c}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1]) // whichever side ends ends the other
					pair[0].Close()
				}()
			}
		}
	}()
	b := whole(t.TempDir(), "grpc://"+front.Addr().String(), 20)
	b.Endpoint.Type, b.Endpoint.Transport = "kserve", "grpc"
	b.Phases[0].Concurrency = ptr(4)
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
	if err != nil {
		t.Fatal(err)
	}
	if v := run.Validity; run.Profiling.Valid != 20 || v.Paths != 20 || v.ResentRequests < 1 || v.ResentRequests > 4 || v.SmoothedRTT <= 0 {
		t.Errorf("%d valid, %+v", run.Profiling.Valid, v.PathUse)
	}
}
