package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Server answers questions about a run.
type Server struct {
	http  *http.Server
	addr  net.Addr
	ended chan struct{}
	err   error // why it ended, once it has
}

// Metrics answers GET /metrics with a page, which is called for every request, by several goroutines.
func Metrics(page func() []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(page()) // whoever asked may be gone
	})
	return mux
}

// Listen answers at host:port from now on. An answer may take longest.
func Listen(ctx context.Context, address string, longest time.Duration, answers http.Handler) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return serve(l, longest, answers), nil
}

// serve answers at a listener, which it closes in the end.
func serve(l net.Listener, longest time.Duration, answers http.Handler) *Server {
	s := &Server{addr: l.Addr(), ended: make(chan struct{}), http: &http.Server{
		Handler: answers, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: longest, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}}
	go func() {
		defer close(s.ended)
		s.err = s.http.Serve(l)
	}()
	return s
}

// Failed waits until the server ends, or the context, and tells why it ended when nobody closed it.
func (s *Server) Failed(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ended:
	}
	if errors.Is(s.err, http.ErrServerClosed) {
		return nil
	}
	return s.err
}

// URL is where the server is.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Close ends the server within the deadline of the context.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // whoever still reads the page loses it
	}
	<-s.ended
	if !errors.Is(s.err, http.ErrServerClosed) {
		return s.err
	}
	return nil
}
