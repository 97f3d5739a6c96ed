package transport

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"aiperf/internal/base/clock"
)

func TestConnectionsAreLeftAloneWhileTheyAreYoungOrTheServerIsRude(t *testing.T) {
	m := &closePolicy{}
	now := clock.Now()
	fresh := func(uses int) *conn { return &conn{key: "http://h:1", idleSince: clock.Now(), uses: uses} }
	pause := func(uses int) (d time.Duration) { // of a connection that has just become idle; more than one try, because this thread may be paused between
		for range 100 {
			d = max(d, m.pause(fresh(uses)))
		}
		return d
	}
	if d := pause(1); d <= 0 || d > reusePause {
		t.Errorf("a young connection waits %v", d)
	}
	if d := pause(youngUses); d != 0 {
		t.Errorf("a trusted connection waits %v", d)
	}
	if d := m.pause(&conn{idleSince: now - int64(time.Hour), uses: 1}); d > 0 {
		t.Errorf("a young connection that was idle long enough waits %v", d)
	}
	old := fresh(youngUses)
	old.idleSince -= 2 * quickClosing
	if m.closed(old); m.pause(fresh(youngUses)) != 0 {
		t.Error("a server that closes connections after a long idle time is not closesEarly")
	}
	if m.closed(fresh(youngUses)); pause(youngUses) <= 0 {
		t.Error("a server that closed right after an answer is trusted")
	}
}

// TestUnannouncedClosesFailNoRequest sends requests without a pause to a server that closes after every answer and does not say so.
func TestUnannouncedClosesFailNoRequest(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		if _, ok := readRequest(r); ok {
			io.WriteString(c, okAnswer)
		}
	})
	c := mustClient(t, nil)
	for i := range 30 {
		if rec := do(c, &Request{Target: target}); rec.Error != nil {
			t.Fatalf("request %d: %v", i, rec.Error)
		}
	}
}

// TestLateClosesFailNoRequest: a server that closes after every answer, later than any pause and here as late as the next request, costs no
// request once that is known.
func TestLateClosesFailNoRequest(t *testing.T) {
	target := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		if _, ok := readRequest(r); ok {
			io.WriteString(c, okAnswer)
			readRequest(r)
		}
	})
	c := mustClient(t, nil)
	for i := range 2 * seenClosing { // an answer and a close in turn
		if rec := do(c, &Request{Target: target}); (rec.Error != nil) != (i%2 == 1) {
			t.Fatalf("request %d: %v", i, rec.Error)
		}
	}
	for i := range 20 {
		if rec := do(c, &Request{Target: target}); rec.Error != nil {
			t.Fatalf("request %d: %v", i, rec.Error)
		}
	}
}

// TestOneLongLifeIsEnough: a server of which some connection carried a second answer is not taken to close them all.
func TestOneLongLifeIsEnough(t *testing.T) {
	m := &closePolicy{}
	k := func(uses int) *conn { return &conn{key: "http://h:1", idleSince: clock.Now(), uses: uses} }
	m.answered(k(2))
	for range 2 * seenClosing {
		m.closed(k(1))
	}
	if m.once(k(1)) {
		t.Error("it is")
	}
}
