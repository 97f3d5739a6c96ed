package transport

import (
	"bufio"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// TestPath: the counters of a connection become those of a request, also where they wrap; a connection that tells nothing has no path.
func TestPath(t *testing.T) {
	before, now := tcpState{known: true, resent: 1<<32 - 1, unordered: 5}, tcpState{known: true, smoothedRTT: 7, resent: 2, unordered: 9, window: 10}
	if got, want := now.changesSince(before), (record.Path{Known: true, SmoothedRTT: 7, Window: 10, Resent: 3, Unordered: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (tcpState{}).changesSince(before); got != (record.Path{}) {
		t.Errorf("%+v", got)
	}
	if got := (tcpState{known: true, resent: 4}).changesSince(tcpState{known: true, resent: 5}); got.Resent != 0 {
		t.Errorf("a segment that proved to be received twice: %+v", got)
	}
	a, c := newAnswers(t, okAnswer), mustClient(t, nil)
	for range 2 {
		rec := do(c, &Request{Target: a.target, Body: record.Plain([]byte("{}"))})
		if p := rec.Trace.Path; runtime.GOOS == "linux" && (!p.Known || p.SmoothedRTT <= 0 || p.Window < 1) || runtime.GOOS != "linux" && p.Known {
			t.Errorf("%+v", p)
		}
	}
}

// TestSettledConnection: a query says whether an idle connection can carry a request, for a few microseconds: not if bytes that nobody requested are
// there, nor if the server has closed.
func TestSettledConnection(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how many bytes have arrived")
	}
	for _, after := range []string{"", "unrequested", "close"} {
		goOn := make(chan struct{})
		target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, okAnswer)
			<-goOn
			if after == "close" {
				return
			}
			io.WriteString(c, after)
			r.ReadByte()
		})
		c := mustClient(t, nil)
		if rec := do(c, &Request{Target: target}); rec.Error != nil {
			t.Fatal(rec.Error)
		}
		k := c.pool.get(target.key, false)
		if k.settle(); k.settled == 0 {
			t.Error("an open connection without bytes is not settled")
		}
		k.settled = clock.Now() + int64(time.Minute)
		if !k.usable() {
			t.Error("a settled connection is not usable")
		}
		k.settled = clock.Now() - 2*staleAfter
		if close(goOn); after != "" {
			waitFor(t, func() bool { return !k.usable() }) // the query is too old: the socket decides
		}
		if k.settle(); (k.settled != 0) != (after == "") {
			t.Errorf("after %q: settled at %d", after, k.settled)
		}
		k.close()
	}
}
