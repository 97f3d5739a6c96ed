package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
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
	cache   *prefixCache  // nil = no cache
	slots   chan struct{} // one element for each request being served; nil = no limit

	mu       sync.Mutex
	listener *net.TCPListener
	conns    map[*net.TCPConn]struct{}
	closed   bool
	wg       sync.WaitGroup
	stopped  chan struct{} // closed when the server closes
	load     func()        // loads the tokenizer for prompts
	warm     chan struct{} // closed when the tokenizer is loaded
}

// New makes a server and creates its truth log.
func New(o Options) (*Server, error) {
	log, err := openTruth(o.TruthLog)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, started: time.Now(), truth: log, pacers: newPacers(), conns: map[*net.TCPConn]struct{}{},
		stopped: make(chan struct{}), warm: make(chan struct{}), load: func() { counter() }}
	s.grpc = newGRPCSide(s)
	if o.PrefixCache != cacheOff {
		s.cache = newPrefixCache()
	}
	if o.Capacity > 0 {
		s.slots = make(chan struct{}, o.Capacity)
	}
	return s, nil
}

// Listen binds an address ("127.0.0.1:0" = any free port) and starts to answer requests. Close ends it.
func (s *Server) Listen(address string) error {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("mock server: %s: another program uses this port; choose another one, or 0 for a free one", address)
	case err != nil:
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

// Addr returns the address that Listen bound.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener.Addr().String()
}

// URL returns the URL of the server.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Pauses after a failed accept, doubled each time: a process without free descriptors must not spin.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// acceptor is the source of connections.
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
		if err != nil { // this client has disconnected, or there is no free descriptor; the next accept may succeed
			if !s.wait(pause) {
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

// wait waits for a while, and then reports whether the server is still open.
func (s *Server) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stopped:
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
		_ = c.SetNoDelay(false) // the first read detects a closed connection
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

// Close stops listening, ends every unfinished answer, and returns when all goroutines of the server have ended.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.stopped)
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	for c := range s.conns {
		// Wakes the connection's goroutine without freeing the descriptor that the pacer may be using.
		_ = c.CloseRead()
		_ = c.SetDeadline(pastDeadline)
	}
	s.mu.Unlock()
	for _, p := range s.pacers {
		p.stop()
	}
	s.grpc.stop()
	s.wg.Wait()
	return errors.Join(err, s.truth.close())
}

// Run listens and answers until the context ends. It calls ready when everything is loaded, so that the first request is answered like all others.
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
