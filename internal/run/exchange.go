package run

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

// protocolClient sends requests over one protocol, HTTP or gRPC. The executor does not know which.
type protocolClient interface {
	// Prepare does all work that can be done before the request must be sent. Receive reports its errors.
	Prepare(ctx context.Context, r *transport.Request) exchange
	// CloseSession releases the state of a session. It must not block.
	CloseSession(id string)
}

// exchange is one request and its answer: the caller calls Send and then Receive, once each, or only Drop.
type exchange interface {
	// Send records the start and writes the request; it must not block.
	Send()
	// Receive reads the whole answer and fills the record; it returns at the latest when the context ends.
	Receive(rec *record.Record, onMessage transport.OnMessage)
	// Drop cancels a request that will not be sent; it must not block.
	Drop()
}

// httpClient sends requests over HTTP/1.1 or HTTP/2, as its client is configured.
type httpClient struct{ *transport.Client }

var _ protocolClient = httpClient{}

// Prepare implements protocolClient.
func (h httpClient) Prepare(ctx context.Context, r *transport.Request) exchange {
	return h.Client.Prepare(ctx, r)
}

// grpcClient sends requests over gRPC.
type grpcClient struct{ *rpc.Client }

var _ protocolClient = grpcClient{}

// Prepare implements protocolClient.
func (g grpcClient) Prepare(ctx context.Context, r *transport.Request) exchange {
	return g.Client.Prepare(ctx, r)
}

// usesGRPC reports whether the requests of a run go over gRPC.
func usesGRPC(b *config.Benchmark) bool { return b.Endpoint.Transport == "grpc" }

// newProtocolClient creates the protocolClient and the client below it.
func newProtocolClient(cfg *config.Benchmark, e *endpoint.Endpoint, codec endpoint.Codec, connections transport.Options, agent string) (over protocolClient, client *transport.Client, release func(), err error) {
	if usesGRPC(cfg) {
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
		return nil, nil, nil, spellSetting(cfg, err)
	}
	return httpClient{client}, client, client.Close, nil
}

// spellSetting spells the setting of a connection error as the user does.
func spellSetting(cfg *config.Benchmark, err error) error {
	var bad *transport.SettingError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", cfg.As("endpoint."+bad.Key), bad.Err)
	}
	return err
}
