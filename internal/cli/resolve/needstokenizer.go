package resolve

import (
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// NeedsTokenizer reports whether the client counts or generates tokens in a run.
func NeedsTokenizer(run *config.Run) bool {
	e, _, err := endpoint.Lookup(run.Endpoint.Type)
	if err != nil {
		return false
	}
	if e = e.Given(run.Endpoint.Extra.Has); !e.TokenizesInput && !e.ProducesTokens {
		return false
	}
	return !run.Endpoint.UseServerTokenCount || run.Dataset().Type == config.DatasetSynthetic
}
