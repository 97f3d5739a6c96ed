// Package connection opens the connections of a run: their options, the servers to which they go, the protocol, and the limits of this machine.
package connection

import (
	"context"
	"errors"
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/wire/transport/rpc"
)

// Client sends requests over one protocol, HTTP or gRPC. The executor does not know which.
type Client interface {
	// Prepare does all work that can be done before the request must be sent. Receive reports its errors.
	Prepare(ctx context.Context, r *transport.Request) Exchange
	// CloseSession releases the state of a session. It must not block.
	CloseSession(id string)
}

// Exchange is one request and its answer: the caller calls Send and then Receive, once each, or only Drop.
type Exchange interface {
	// Send records the start and writes the request; it must not block.
	Send()
	// Receive reads the whole answer and fills the record; it returns at the latest when the context ends.
	Receive(rec *record.Record, onMessage transport.OnMessage)
	// ReceiveThen does the same and then calls then, in any goroutine; it may return before.
	ReceiveThen(rec *record.Record, onMessage transport.OnMessage, then func())
	// Drop cancels a request that will not be sent; it must not block.
	Drop()
}

// HTTP sends requests over HTTP/1.1 or HTTP/2, as its client is configured.
type HTTP struct{ *transport.Client }

var _ Client = HTTP{}

// Prepare implements Client.
func (h HTTP) Prepare(ctx context.Context, r *transport.Request) Exchange {
	return h.Client.Prepare(ctx, r)
}

// grpcClient sends requests over gRPC.
type grpcClient struct{ *rpc.Client }

var _ Client = grpcClient{}

// Prepare implements Client.
func (g grpcClient) Prepare(ctx context.Context, r *transport.Request) Exchange {
	return g.Client.Prepare(ctx, r)
}

// UsesGRPC reports whether the requests of a run go over gRPC.
func UsesGRPC(b *config.Benchmark) bool { return b.Endpoint.Transport == "grpc" }

// NewClient creates the Client and the client below it.
func NewClient(cfg *config.Benchmark, e *endpoint.Endpoint, codec endpoint.Codec, connections transport.Options, agent string) (over Client, client *transport.Client, release func(), err error) {
	if UsesGRPC(cfg) {
		words, ok := codec.(endpoint.RPC)
		if !ok {
			return nil, nil, nil, fmt.Errorf("%s %s does not speak gRPC", cfg.As("endpoint.type"), e.Name)
		}
		over, err := rpc.NewClient(connections, words, agent)
		if err != nil {
			return nil, nil, nil, err
		}
		return grpcClient{over}, over.Wire(), over.Close, nil
	}
	if client, err = transport.NewClient(connections); err != nil {
		return nil, nil, nil, SpellSetting(cfg, err)
	}
	return HTTP{client}, client, client.Close, nil
}

// SpellSetting spells the setting of a connection error as the user does.
func SpellSetting(cfg *config.Benchmark, err error) error {
	var bad *transport.SettingError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", cfg.As("endpoint."+bad.Key), bad.Err)
	}
	return err
}
