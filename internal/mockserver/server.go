package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a simulated inference server.
type Server struct {
	opts    Options
	started time.Time
	truth   *truthLog
	pacers  []*pacer
	metrics metrics
	number  atomic.Uint64
	grpc    *grpcSide
	cache   *prefixCache  // nil = there is none
	slots   chan struct{} // held by requests that are served; nil = all are at once

	mu       sync.Mutex
	listener *net.TCPListener
	conns    map[*net.TCPConn]struct{}
	closed   bool
	wg       sync.WaitGroup
	over     chan struct{} // closed with the server
	load     func()        // loads what prompts are counted with
	warm     chan struct{} // closed when that is there
}

// New makes a server; its truth log is created at once.
func New(o Options) (*Server, error) {
	log, err := openTruth(o.TruthLog)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, started: time.Now(), truth: log, pacers: newPacers(), conns: map[*net.TCPConn]struct{}{},
		over: make(chan struct{}), warm: make(chan struct{}), load: func() { counter() }}
	s.grpc = newGRPCSide(s)
	if o.PrefixCache != cacheOff {
		s.cache = newPrefixCache()
	}
	if o.Capacity > 0 {
		s.slots = make(chan struct{}, o.Capacity)
	}
	return s, nil
}

// Listen binds an address ("127.0.0.1:0" = any free port) and begins to answer. Close ends it.
func (s *Server) Listen(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("mock server: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(errors.New("mock server: listen after close"), l.Close())
	}
	s.listener = l.(*net.TCPListener)
	for _, p := range s.pacers {
		s.wg.Go(p.run)
	}
	s.wg.Go(func() { s.accept(s.listener) })
	s.wg.Go(s.grpc.run)
	s.wg.Go(func() {
		defer close(s.warm)
		if s.opts.CountPrompt {
			s.load()
		}
	})
	return nil
}

// Addr is the address that Listen bound.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener.Addr().String()
}

// URL is where clients find the server.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Pauses after a connection that could not be accepted, doubled each time: a process without free descriptors must not spin on it.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// acceptor is where connections come from.
type acceptor interface {
	AcceptTCP() (*net.TCPConn, error)
}

func (s *Server) accept(l acceptor) {
	pause := firstPause
	for {
		c, err := l.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // this client is gone, or there is no descriptor for it; the next may do better
			if !s.rest(pause) {
				return
			}
			pause = min(2*pause, longestPause)
			continue
		}
		pause = firstPause
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.wg.Go(func() { s.serve(c) })
		s.mu.Unlock()
	}
}

// rest waits for a while; it tells whether the server is still open then.
func (s *Server) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.over:
		return false
	}
}

func (s *Server) serve(c *net.TCPConn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	if s.opts.Nagle {
		_ = c.SetNoDelay(false) // a connection that is gone is noticed by the first read
	}
	sock, err := newSocket(c)
	if err != nil {
		return
	}
	one := newConn(s, c, sock)
	if first, err := one.in.Peek(len(http2Start)); err == nil && string(first) == http2Start {
		s.grpc.serve(c, one.in.Reader)
		return
	}
	one.run()
}

// Close stops listening, ends every answer under way, and returns when nothing of the server runs any more.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.over)
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	for c := range s.conns {
		// Wakes the connection's goroutine without freeing the descriptor that the pacer may be writing to.
		_ = c.CloseRead()
		_ = c.SetDeadline(past)
	}
	s.mu.Unlock()
	for _, p := range s.pacers {
		p.stop()
	}
	s.grpc.library.Stop()
	s.wg.Wait()
	return errors.Join(err, s.truth.close())
}

// Run listens and answers until the context ends. ready is called when the first request will be answered as all others: it does not pay
// for what the server loads.
func Run(ctx context.Context, o Options, address string, ready func(url string)) error {
	s, err := New(o)
	if err != nil {
		return err
	}
	return s.run(ctx, address, ready)
}

func (s *Server) run(ctx context.Context, address string, ready func(url string)) error {
	if err := s.Listen(address); err != nil {
		return errors.Join(err, s.Close())
	}
	select {
	case <-s.warm:
		if ready != nil {
			ready(s.URL())
		}
		<-ctx.Done()
	case <-ctx.Done():
	}
	return s.Close()
}
