package mockserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"aiperf/internal/wire/openinference"
)

// grpcSide is the gRPC part of the server. It implements the Open Inference Protocol on the same port as HTTP. It receives the connections that start
// with HTTP/2.
type grpcSide struct {
	*Server
	library *grpc.Server
	conns   chan net.Conn
	mu      sync.Mutex
	open    map[string]*net.TCPConn // open connections, by the client's address
}

// http2Start are the first bytes of a connection that uses HTTP/2 with prior knowledge (RFC 9113, section 3.4).
const http2Start = "PRI "

func newGRPCSide(s *Server) *grpcSide {
	g := &grpcSide{Server: s, conns: make(chan net.Conn), open: map[string]*net.TCPConn{}, library: grpc.NewServer(
		grpc.MaxRecvMsgSize(maxBody), grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(16<<20))}
	g.library.RegisterService(&inferenceService, g)
	reflection.Register(g.library)
	return g
}

// run serves connections until the server closes.
func (g *grpcSide) run() { _ = g.library.Serve(g) } // ends when this listener is closed

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

// serve passes a connection to the library and waits for its end.
func (g *grpcSide) serve(c *net.TCPConn, in *bufio.Reader) {
	from := c.RemoteAddr().String()
	g.mu.Lock()
	g.open[from] = c
	g.mu.Unlock()
	one := &peekedConn{TCPConn: c, in: in, closed: make(chan struct{})}
	select {
	case g.conns <- one:
		<-one.closed
	case <-g.stopped:
	}
	g.mu.Lock()
	delete(g.open, from)
	g.mu.Unlock()
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

// connOf returns the connection of a call.
func (g *grpcSide) connOf(ctx context.Context) *net.TCPConn {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[p.Addr.String()]
}

// inferenceService implements the part of the Open Inference Protocol that the server supports.
var inferenceService = grpc.ServiceDesc{
	ServiceName: "inference.GRPCInferenceService", HandlerType: (*any)(nil), Metadata: "openinference.proto",
	Methods: []grpc.MethodDesc{
		unary("ServerReady", func(_ *grpcSide, _ *openinference.ServerReadyRequest) *openinference.ServerReadyResponse {
			return &openinference.ServerReadyResponse{Ready: true}
		}),
		unary("ModelReady", func(_ *grpcSide, _ *openinference.ModelReadyRequest) *openinference.ModelReadyResponse {
			return &openinference.ModelReadyResponse{Ready: true}
		}),
		unary("ModelMetadata", func(_ *grpcSide, r *openinference.ModelMetadataRequest) *openinference.ModelMetadataResponse {
			return describe(r.GetName())
		}),
		{MethodName: "ModelInfer", Handler: func(srv any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(openinference.ModelInferRequest)
			if err := read(in); err != nil {
				return nil, err
			}
			var out *openinference.ModelInferResponse
			err := srv.(*grpcSide).infer(ctx, in, openinference.ModelInfer, func(r *openinference.ModelInferResponse, _ string) error {
				out = r
				return nil
			})
			return out, err
		}},
	},
	Streams: []grpc.StreamDesc{{StreamName: "ModelStreamInfer", ServerStreams: true, ClientStreams: true, Handler: func(srv any, s grpc.ServerStream) error {
		for {
			in := new(openinference.ModelInferRequest)
			if err := s.RecvMsg(in); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			err := srv.(*grpcSide).infer(s.Context(), in, openinference.ModelStreamInfer, func(r *openinference.ModelInferResponse, failure string) error {
				return s.SendMsg(&openinference.ModelStreamInferResponse{InferResponse: r, ErrorMessage: failure})
			})
			if err != nil {
				return err
			}
		}
	}}},
}

// unary describes a method that only returns information.
func unary[Q, A any](name string, answer func(*grpcSide, *Q) *A) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(Q)
		if err := read(in); err != nil {
			return nil, err
		}
		return answer(srv.(*grpcSide), in), nil
	}}
}

// tensors are those of TensorRT-LLM's and vLLM's models together, so that either backend finds its own.
var tensors = []struct{ name, datatype string }{
	{"text_input", "BYTES"}, {"max_tokens", "INT32"}, {"min_length", "INT32"}, {"exclude_input_in_output", "BOOL"}, {"stream", "BOOL"}, {"sampling_parameters", "BYTES"},
}

// describe returns the tensors, which are the same for every model.
func describe(model string) *openinference.ModelMetadataResponse {
	m := &openinference.ModelMetadataResponse{Name: model, Versions: []string{"1"}, Platform: "mock"}
	for _, t := range tensors {
		m.Inputs = append(m.Inputs, &openinference.ModelMetadataResponse_TensorMetadata{Name: t.name, Datatype: t.datatype, Shape: []int64{-1, 1}})
	}
	m.Outputs = []*openinference.ModelMetadataResponse_TensorMetadata{
		{Name: "text_output", Datatype: "BYTES", Shape: []int64{-1, -1}}, {Name: embeddingTensor, Datatype: "FP32", Shape: []int64{-1, -1}},
		{Name: scoreTensor, Datatype: "FP32", Shape: []int64{-1}}, {Name: imageTensor, Datatype: "BYTES", Shape: []int64{-1}},
	}
	return m
}

// grpcCodes maps HTTP statuses of failures to gRPC codes.
var grpcCodes = map[int]codes.Code{400: codes.InvalidArgument, 401: codes.Unauthenticated, 403: codes.PermissionDenied, 404: codes.NotFound,
	429: codes.ResourceExhausted, 499: codes.Canceled, 501: codes.Unimplemented, 503: codes.Unavailable, 504: codes.DeadlineExceeded}

// simulatedStatus returns the gRPC error for an HTTP status.
func simulatedStatus(http int) error {
	code, ok := grpcCodes[http]
	if !ok {
		code = codes.Internal
	}
	return status.Error(code, "simulated failure")
}

// header returns a value of a call's metadata; "" = none.
func header(ctx context.Context, name string) string {
	md, _ := metadata.FromIncomingContext(ctx)
	if list := md.Get(name); len(list) > 0 {
		return list[0]
	}
	return ""
}
