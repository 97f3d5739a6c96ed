package transport

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// slowSocket takes bytes and lets the call return only when released, like a goroutine that waits for a CPU.
type slowSocket struct {
	socket
	takes []int         // bytes that each write takes
	taken chan int      // bytes that a write took
	ended chan struct{} // its deadline came
	eased int           // times that its deadline was taken back
}

func (s *slowSocket) Write(b []byte) (int, error) {
	n := min(s.takes[0], len(b))
	s.takes = s.takes[1:]
	s.taken <- n
	if <-s.ended; n < len(b) {
		return n, &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	}
	return n, nil
}

// SetWriteDeadline implements net.Conn: one that has passed ends the write.
func (s *slowSocket) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		s.eased++
	} else {
		s.ended <- struct{}{}
	}
	return nil
}

// TestHTTP2StoppedWrite: bytes that the socket accepted before the answer was complete count as sent, even if the writer reports it later; the rest does
// not, and is sent anyway for those that follow on the connection.
func TestHTTP2StoppedWrite(t *testing.T) {
	for name, c := range map[string]struct {
		takes []int
		want  error
	}{"all": {[]int{100}, nil}, "a part": {[]int{60, 40}, errStopped}} {
		k := &slowSocket{takes: c.takes, taken: make(chan int), ended: make(chan struct{}, 2)}
		w := new(h2writer)
		w.init(&conn{socket: k, out: make([]byte, 100)})
		w.flushing = true
		flushed := make(chan struct{})
		go func() { w.flushRest(); close(flushed) }()
		s := &h2stream{last: 100}
		<-k.taken
		sent := make(chan error)
		go func() { sent <- w.sendBody(s, nil) }()
		w.stop(s)
		if err := <-sent; !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want != nil {
			<-k.taken
			k.ended <- struct{}{}
		}
		if <-flushed; w.closed != nil || w.written != 100 || w.interrupted || k.eased != 1 {
			t.Errorf("%s: %d bytes written, closed by %v, %d deadlines taken back", name, w.written, w.closed, k.eased)
		}
	}
}
