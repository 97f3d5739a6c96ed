package promserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Server is an HTTP server for the state of a run.
type Server struct {
	http  *http.Server
	addr  net.Addr
	ended chan struct{}
	err   error // why it ended; valid after its end
}

// Metrics returns a handler of GET /metrics. It calls page for every request, from several goroutines.
func Metrics(page func() []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(page()) // the client may be gone
	})
	return mux
}

// Listen starts serving at host:port. longest is the time limit of an answer.
func Listen(ctx context.Context, address string, longest time.Duration, answers http.Handler) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, errors.New("another program uses this port; choose another one")
	case err != nil:
		return nil, err
	}
	return serve(l, longest, answers), nil
}

// serve serves at a listener and closes it at the end.
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

// Failed waits until the server or the context ends. It returns the error of a server that was not closed by Close.
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

// URL returns the address of the server.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Close ends the server within the deadline of the context.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // clients that are still reading are disconnected
	}
	<-s.ended
	if !errors.Is(s.err, http.ErrServerClosed) {
		return s.err
	}
	return nil
}
