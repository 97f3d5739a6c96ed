package run

import (
	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/message"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// preflight sends requests to the servers outside the load, before it and around it. They are not part of any result.
type preflight struct {
	preflightOptions
}

// preflightOptions says what a preflight asks, and over what.
type preflightOptions struct {
	config      *config.Benchmark
	endpoint    *endpoint.Endpoint
	codec       endpoint.Codec
	streaming   bool                                // answers are streams
	tokenizers  func() (*results.Tokenizers, error) // opens the tokenizers at its first call
	executor    *exec.Executor
	addresses   *connection.Addresses
	client      connection.Client // of the load
	agent       string            // value of the header User-Agent
	secrets     *redact.Secrets
	interactive bool // a person is watching: a probe is sent by default
	say         *message.Reporter
}

// newPreflight returns a preflight, which has sent nothing yet.
func newPreflight(o preflightOptions) *preflight { return &preflight{o} }

// ownClient returns a client with separate connections, so that those of the load stay unused. The caller must call release.
func (p *preflight) ownClient(set func(*transport.Options)) (client connection.Client, release func(), err error) {
	connections := connection.Options(p.config, nil)
	connections.Capture = transport.CaptureOff
	if set != nil {
		set(&connections)
	}
	client, _, release, err = connection.NewClient(p.config, p.endpoint, p.codec, connections, p.agent)
	return client, release, err
}

// model returns the model of requests that name none.
func (p *preflight) model() string { return p.config.Models.Items[0].Asked() }
