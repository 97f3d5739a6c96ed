package rereport

import (
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// The Python tool reads less from some exchanges than we do: no usage of embeddings and rankings, and no input text of rankings. It gives both an
// output length of 0. A report on its export does the same, so that it can be compared with the tool's own.

// decoder returns the function that reads answers. For an export of the Python tool it reads only what that tool reads.
func decoder(e *endpoint.Endpoint, c endpoint.Codec, python bool) func(*record.Record, endpoint.DecodeOptions) (*record.Reply, *record.Error) {
	silent := python && (e.Ranks() || e.Produces == record.Embeddings)
	return func(rec *record.Record, o endpoint.DecodeOptions) (*record.Reply, *record.Error) {
		reply, err := endpoint.Decode(c, rec, o)
		if !silent {
			return reply, err
		}
		reply.Usage = nil
		if e.Ranks() {
			reply.InputTexts, reply.InputTokens = nil, 0
		}
		return reply, err
	}
}
