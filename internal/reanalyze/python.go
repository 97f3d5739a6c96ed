package reanalyze

import (
	"aiperf/internal/endpoint"
	"aiperf/internal/record"
)

// The Python tool reads less out of some exchanges than we do: no usage of embeddings and rankings, no input text of rankings;
// and it gives both an output length of 0. A report made from its export keeps to that, so that it can be laid beside the tool's own.

// decoder reads answers; those from an export of the Python tool with its restraint.
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
