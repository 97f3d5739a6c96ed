package mockserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/openinference"
)

// grpcSide is the gRPC part of the server. It implements the Open Inference Protocol on the same port as HTTP. It receives the connections that start
// with HTTP/2.
type grpcSide struct {
	*Server
	http  *http.Server
	conns chan net.Conn
}

// http2Start are the first bytes of a connection that uses HTTP/2 with prior knowledge (RFC 9113, section 3.4).
const http2Start = "PRI "

// tcpKey is the key of a call's connection in its context.
type tcpKey struct{}

func newGRPCSide(s *Server) *grpcSide {
	g := &grpcSide{Server: s, conns: make(chan net.Conn)}
	g.http = &http.Server{
		Handler:           http.HandlerFunc(g.handle),
		Protocols:         new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 1 << 20, MaxReceiveBufferPerStream: 1 << 20, MaxReceiveBufferPerConnection: 16 << 20},
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that break off are normal here
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, tcpKey{}, c.(*peekedConn).TCPConn)
		},
	}
	g.http.Protocols.SetUnencryptedHTTP2(true)
	return g
}

// run serves connections until the server closes.
func (g *grpcSide) run() { _ = g.http.Serve(g) } // ends when this listener is closed

// stop closes all connections.
func (g *grpcSide) stop() { _ = g.http.Close() } // fails only as a listener does, and this one does not

// Accept implements net.Listener.
func (g *grpcSide) Accept() (net.Conn, error) {
	select {
	case c := <-g.conns:
		return c, nil
	case <-g.stopped:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (g *grpcSide) Close() error { return nil }

// Addr implements net.Listener.
func (g *grpcSide) Addr() net.Addr { return g.listener.Addr() }

// serve passes a connection to the server of HTTP/2 and waits for its end.
func (g *grpcSide) serve(c *net.TCPConn, in *bufio.Reader) {
	one := &peekedConn{TCPConn: c, in: in, closed: make(chan struct{})}
	select {
	case g.conns <- one:
		<-one.closed
	case <-g.stopped:
	}
}

// peekedConn is a connection whose first bytes were already read.
type peekedConn struct {
	*net.TCPConn
	in     *bufio.Reader
	once   sync.Once
	closed chan struct{}
}

// Read implements net.Conn.
func (h *peekedConn) Read(b []byte) (int, error) { return h.in.Read(b) }

// Close implements net.Conn.
func (h *peekedConn) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.TCPConn.Close()
}

// handle answers a call.
func (g *grpcSide) handle(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !grpcwire.IsContentType(r.Header.Get("Content-Type")) {
		http.Error(w, "this server speaks gRPC over HTTP/2, and HTTP/1.1", http.StatusUnsupportedMediaType)
		return
	}
	c := &grpcCall{w: w, r: r, ctx: r.Context()}
	if text := r.Header.Get("Grpc-Timeout"); text != "" {
		limit, err := grpcwire.DecodeTimeout(text)
		if err != nil {
			c.end(grpcwire.Errorf(grpcwire.Internal, "malformed %v", err))
			return
		}
		var cancel context.CancelFunc
		c.ctx, cancel = context.WithTimeout(c.ctx, limit)
		defer cancel()
	}
	c.end(g.method(c))
}

// method calls the method of a call's path.
func (g *grpcSide) method(c *grpcCall) error {
	switch c.r.URL.Path {
	case openinference.ServerReady, openinference.ModelReady:
		return c.answerOnce(func([]byte) ([]byte, error) { return (&openinference.ReadyResponse{Ready: true}).Marshal(), nil })
	case openinference.ModelMetadata:
		return c.answerOnce(func(b []byte) ([]byte, error) {
			ask := new(openinference.ModelRequest)
			if err := ask.Unmarshal(b); err != nil {
				return nil, err
			}
			return describe(ask.Name).Marshal(), nil
		})
	case openinference.ModelInfer, openinference.ModelStreamInfer:
		return g.infers(c)
	case reflectionPath, oldReflectionPath:
		return c.answerEach(reflect)
	}
	return grpcwire.Errorf(grpcwire.Unimplemented, "unknown method %s", c.r.URL.Path)
}

// infers answers the inference requests of a call.
func (g *grpcSide) infers(c *grpcCall) error {
	method := c.r.URL.Path
	for {
		b, err := c.receive()
		if errors.Is(err, io.EOF) && method == openinference.ModelStreamInfer {
			return nil
		} else if err != nil {
			return err
		}
		in := new(openinference.InferRequest)
		if err := in.Unmarshal(b); err != nil {
			return grpcwire.Errorf(grpcwire.Internal, "%v", err)
		}
		if method == openinference.ModelInfer {
			return g.infer(c, in, func(r *openinference.InferResponse, _ string) error { return c.send(r.Marshal()) })
		}
		err = g.infer(c, in, func(r *openinference.InferResponse, failure string) error {
			return c.send((&openinference.StreamResponse{Response: r, ErrorMessage: failure}).Marshal())
		})
		if err != nil {
			return err
		}
	}
}

// tensors are those of TensorRT-LLM's and vLLM's models together, so that either backend finds its own.
var tensors = []struct{ name, datatype string }{
	{"text_input", "BYTES"}, {"max_tokens", "INT32"}, {"min_length", "INT32"}, {"exclude_input_in_output", "BOOL"}, {"stream", "BOOL"}, {"sampling_parameters", "BYTES"},
}

// describe returns the tensors, which are the same for every model.
func describe(model string) *openinference.Metadata {
	m := &openinference.Metadata{Name: model, Versions: []string{"1"}, Platform: "mock"}
	for _, t := range tensors {
		m.Inputs = append(m.Inputs, openinference.TensorMetadata{Name: t.name, Datatype: t.datatype, Shape: []int64{-1, 1}})
	}
	m.Outputs = []openinference.TensorMetadata{
		{Name: "text_output", Datatype: "BYTES", Shape: []int64{-1, -1}}, {Name: embeddingTensor, Datatype: "FP32", Shape: []int64{-1, -1}},
		{Name: scoreTensor, Datatype: "FP32", Shape: []int64{-1}}, {Name: imageTensor, Datatype: "BYTES", Shape: []int64{-1}},
	}
	return m
}

// grpcCode returns the gRPC code for an HTTP status of a failure.
func grpcCode(http int) grpcwire.Code {
	for code := grpcwire.OK; code <= grpcwire.Unauthenticated; code++ {
		if code.HTTPStatus() == http && http != 500 {
			return code
		}
	}
	return grpcwire.Internal
}

// simulatedStatus returns the gRPC error for an HTTP status.
func simulatedStatus(http int) error { return grpcwire.Errorf(grpcCode(http), "simulated failure") }
