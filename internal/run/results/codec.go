package results

import (
	"encoding/json"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// CodecSettings returns the settings of the run that the codec needs.
func CodecSettings(b *config.Benchmark, streaming bool) endpoint.Settings {
	s := endpoint.Settings{
		Model: b.Models.Items[0].Asked(), Streaming: streaming,
		Spell: b.As, LegacyMaxTokens: b.Endpoint.UseLegacyMaxTokens, ServerTokenCount: b.Endpoint.UseServerTokenCount, PerChunkUsage: b.Endpoint.PerChunkUsage, Complete: b.Endpoint.RequireCompletion,
		ForceContentParts: b.Environment.ForceContentParts,
		ContentType:       b.Endpoint.RequestContentType, PollInterval: b.Environment.HTTP.VideoPollInterval.Duration(), Download: b.Endpoint.DownloadVideo,
		GRPC: b.Endpoint.Transport == "grpc", Method: b.Endpoint.GRPCMethod, Descriptors: b.Endpoint.GRPCDescriptors, Backend: b.Endpoint.Backend,
	}
	if t := b.Endpoint.Timeout; !t.Infinite() {
		s.Timeout = t.Duration()
	}
	if t := b.Endpoint.Template; t != nil { // --extra-inputs win over the file's section
		s.Extras = append(s.Extras, textMember("payload_template", t.Body), textMember("response_field", t.ResponseField))
	}
	for _, m := range b.Endpoint.Extra {
		s.Extras = append(s.Extras, endpoint.Member{Key: m.Key, Value: m.Value})
	}
	return s
}

// textMember returns a member whose value is a text.
func textMember(key, value string) endpoint.Member {
	raw, _ := json.Marshal(value) // a string always has a JSON form
	return endpoint.Member{Key: key, Value: raw}
}
