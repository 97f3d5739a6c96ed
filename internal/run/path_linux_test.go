package run

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/metric"
)

// drops is a socket filter (socket(7), SO_ATTACH_FILTER) that loses segments with content. What it looks at begins with the TCP header, which
// has 60 bytes at most: handshakes and bare acknowledgements pass.
var drops = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_LEN},
	{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 60, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 20},
}

// lossy gives connections that lose everything for a while, and nothing afterwards.
type lossy struct{ net.Listener }

func (l lossy) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		time.AfterFunc(50*time.Millisecond, func() {
			raw, err := c.(*net.TCPConn).SyscallConn()
			if err == nil {
				_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) }) // a closed one loses nothing
			}
		})
	}
	return c, err
}

// TestLossyPath: the kernel's word on every connection is in the records, and the verdict says how many requests saw a retransmit: the first
// of each connection.
func TestLossyPath(t *testing.T) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if ctl := raw.Control(func(fd uintptr) { // connections inherit it
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(drops)), Filter: &drops[0]})
		}); ctl != nil {
			return ctl
		}
		return err
	}}
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	s.Listener.Close()
	s.Listener = lossy{l}
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
	if notes := strings.Join(v.Notes, "\n"); !strings.Contains(notes, "8 of 40 requests saw a retransmit") {
		t.Errorf("no note says it: %s", notes)
	}
	if w := run.Profiling.Value("tcp_congestion_window", metric.Min); !(w >= 1) {
		t.Errorf("a congestion window of %v segments", w)
	}
}
