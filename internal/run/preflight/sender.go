// Package preflight sends requests to the servers outside the load. Before the load it waits for the models, learns about them, probes a server and
// resets caches; around the measured phases it starts and stops the profilers of the servers.
package preflight

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

// Sender sends requests to the servers outside the load, before it and around it. They are not part of any result.
type Sender struct {
	Options
}

// Options says what a Sender asks, and over what.
type Options struct {
	Config      *config.Benchmark
	Endpoint    *endpoint.Endpoint
	Codec       endpoint.Codec
	Streaming   bool                                // answers are streams
	Tokenizers  func() (*results.Tokenizers, error) // opens the tokenizers at its first call
	Executor    *exec.Executor
	Addresses   *connection.Addresses
	Client      connection.Client // of the load
	Agent       string            // value of the header User-Agent
	Secrets     *redact.Secrets
	Interactive bool // a person is watching: a probe is sent by default
	Say         *message.Reporter
}

// New returns a Sender, which has sent nothing yet.
func New(o Options) *Sender { return &Sender{o} }

// ownClient returns a client with separate connections, so that those of the load stay unused. The caller must call release.
func (p *Sender) ownClient(set func(*transport.Options)) (client connection.Client, release func(), err error) {
	connections := connection.Options(p.Config, nil)
	connections.Capture, connections.Loop = transport.CaptureOff, false
	if set != nil {
		set(&connections)
	}
	client, _, release, err = connection.NewClient(p.Config, p.Endpoint, p.Codec, connections, p.Agent)
	return client, release, err
}

// model returns the model of requests that name none.
func (p *Sender) model() string { return p.Config.Models.Items[0].Asked() }
