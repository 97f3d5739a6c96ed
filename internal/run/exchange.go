package run

import (
	"context"

	"aiperf/internal/config"
	"aiperf/internal/record"
	"aiperf/internal/transport"
	"aiperf/internal/transport/rpc"
)

// carrier carries requests over one protocol. HTTP is one, gRPC another; the executor knows of none.
type carrier interface {
	// Prepare gets everything ready that can be ready before the instant at which the request leaves. What fails is for Receive to report.
	Prepare(ctx context.Context, r *transport.Request) exchange
	// CloseSession ends what is kept for a session. It must not block.
	CloseSession(id string)
}

// exchange is one request on its way: Send and then Receive are called once each, or Drop alone.
type exchange interface {
	// Send stamps the start and writes; it must not block.
	Send()
	// Receive reads the answer to its end and fills the record; it always returns, at the latest when the context ends.
	Receive(rec *record.Record, onMessage transport.OnMessage)
	// Drop gives up a request that will not be sent; it must not block.
	Drop()
}

// overHTTP carries requests over HTTP/1.1 or HTTP/2, as its client was told.
type overHTTP struct{ *transport.Client }

var _ carrier = overHTTP{}

// Prepare implements carrier.
func (h overHTTP) Prepare(ctx context.Context, r *transport.Request) exchange {
	return h.Client.Prepare(ctx, r)
}

// grpc carries requests over gRPC.
type grpc struct{ *rpc.Client }

var _ carrier = grpc{}

// Prepare implements carrier.
func (g grpc) Prepare(ctx context.Context, r *transport.Request) exchange {
	return g.Client.Prepare(ctx, r)
}

// overGRPC tells whether the requests of a run go over gRPC.
func overGRPC(b *config.Benchmark) bool { return b.Endpoint.Transport == "grpc" }
