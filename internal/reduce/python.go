package reduce

import (
	"strings"

	"aiperf/internal/endpoint"
	"aiperf/internal/record"
)

// The Python tool reads less out of some exchanges than we do: no usage of embeddings and rankings, no input text of rankings. A report
// made from its export keeps to that, so that it can be laid beside the tool's own.

// decoder reads answers; those from an export of the Python tool, which has no socket instants, with its restraint.
func decoder(e *endpoint.Endpoint, o endpoint.DecodeOptions) func(*record.Record) (*record.Reply, *record.Error) {
	rankings := strings.HasSuffix(e.Name, "_rankings")
	silent := rankings || strings.HasSuffix(e.Name, "embeddings")
	return func(rec *record.Record) (*record.Reply, *record.Error) {
		reply, err := e.Decode(rec, o)
		if rec.Trace != nil || !silent {
			return reply, err
		}
		reply.Usage = nil
		if rankings {
			reply.InputTexts, reply.InputTokens = nil, 0
		}
		return reply, err
	}
}
