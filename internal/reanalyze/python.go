package reanalyze

import (
	"aiperf/internal/endpoint"
	"aiperf/internal/record"
)

// The Python tool reads less out of some exchanges than we do: no usage of embeddings and rankings, no input text of rankings;
// and it gives both an output length of 0. A report made from its export keeps to that, so that it can be laid beside the tool's own.

// fromPython tells whether a record comes from an export of the Python tool, which has no socket instants.
func fromPython(rec *record.Record) bool { return rec.Trace == nil }

// decoder reads answers; those from an export of the Python tool with its restraint.
func decoder(e *endpoint.Endpoint, c endpoint.Codec, o endpoint.DecodeOptions) func(*record.Record) (*record.Reply, *record.Error) {
	silent := e.Ranks() || e.Produces == record.Embeddings
	return func(rec *record.Record) (*record.Reply, *record.Error) {
		reply, err := endpoint.Decode(c, rec, o)
		if !fromPython(rec) || !silent {
			return reply, err
		}
		reply.Usage = nil
		if e.Ranks() {
			reply.InputTexts, reply.InputTokens = nil, 0
		}
		return reply, err
	}
}
