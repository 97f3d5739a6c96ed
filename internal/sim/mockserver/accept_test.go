package mockserver

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// poor is a listener of a process without free descriptors.
type poor struct{ asked atomic.Int64 }

func (p *poor) AcceptTCP() (*net.TCPConn, error) {
	p.asked.Add(1)
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// TestAcceptBacksOff: without descriptors the server asks again now and then, and ends when it is closed.
func TestAcceptBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := new(poor)
		done := make(chan struct{})
		go func() {
			s.accept(p)
			close(done)
		}()
		time.Sleep(10 * time.Second) // of the bubble's clock
		if n := p.asked.Load(); n < 10 || n > 20 {
			t.Errorf("asked %d times in 10 s", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
}

// TestReadyMeansWarm: the address is printed when the tokenizer is loaded, so that the first prompt waits for nothing.
func TestReadyMeansWarm(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s, err := New(Options{CountPrompt: true})
	if err != nil {
		t.Fatal(err)
	}
	var loaded atomic.Bool
	s.load = func() { counter(); loaded.Store(true) }
	told := false
	if err := s.run(ctx, "127.0.0.1:0", func(string) {
		told = true
		if !loaded.Load() {
			t.Error("ready before the tokenizer was there")
		}
		stop()
	}); err != nil || !told {
		t.Errorf("told %v, %v", told, err)
	}
}
