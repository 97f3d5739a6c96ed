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
	http *http.Server
	addr net.Addr
	done chan error
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
	s := &Server{addr: l.Addr(), done: make(chan error, 1), http: &http.Server{
		Handler: answers, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: longest, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}}
	go func() { s.done <- s.http.Serve(l) }()
	return s, nil
}

// URL is where the server is.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Close ends the server within the deadline of the context.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // whoever still reads the page loses it
	}
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
