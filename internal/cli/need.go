package cli

import (
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
)

// needsTokenizer reports whether anything in a run counts or makes tokens here.
func needsTokenizer(run *config.Run) bool {
	e, _, err := endpoint.Lookup(run.Endpoint.Type)
	if err != nil {
		return false
	}
	if e = e.Given(run.Endpoint.Extra.Has); !e.TokenizesInput && !e.ProducesTokens {
		return false
	}
	return !run.Endpoint.UseServerTokenCount || run.Dataset().Type == config.DatasetSynthetic
}
