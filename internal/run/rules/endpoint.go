package rules

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// grpc reports whether the requests use gRPC.
func grpc(s *Subject) bool { return s.Run.Endpoint.Transport == "grpc" }

// readExtra reports whether the endpoint type reads an extra itself instead of sending it.
func readExtra(s *Subject, m config.Member) bool {
	return s.Endpoint != nil && slices.Contains(s.Endpoint.Reads, m.Key)
}

// sentExtras reports whether an extra is for the bodies.
func sentExtras(s *Subject) bool {
	return slices.ContainsFunc(s.Run.Endpoint.Extra, func(m config.Member) bool { return !readExtra(s, m) })
}

// readExtras reports whether the endpoint type reads an extra itself.
func readExtras(s *Subject) bool {
	return slices.ContainsFunc(s.Run.Endpoint.Extra, func(m config.Member) bool { return readExtra(s, m) })
}

// tokenizers lists the settings of the tokenizer.
var tokenizers = []string{"tokenizer.name", "tokenizer.revision", "tokenizer.trust_remote_code"}

// endpointRules lists which settings an endpoint type needs, ignores, or cannot be combined with.
var endpointRules = []rule{
	{row: "40", keys: []string{data + "rankings"}, when: not(ranksPassages), text: "has no effect: the endpoint type does not rank", level: warning},
	{row: "41", keys: inputLengths, when: ranksPassages,
		text: "has no effect on a ranking type; see {" + data + "rankings.query_tokens.mean} and {" + data + "rankings.passage_tokens.mean}", level: warning},
	{row: "honest", keys: join([]string{prompts + "sequence_distribution"}, prefixPool, turnShape), when: ranksPassages,
		text: "has no effect on a ranking type: a request is one query and its passages", level: warning},
	{row: "honest", keys: []string{prompts + "batch_size"}, when: all(ranksPassages, not(sampledFile)), // a folder of queries and passages decides the number of passages
		text: "has no effect on a ranking type: a request is one query and its passages; see {" + data + "rankings.passages.mean}", level: warning},
	{row: "64", keys: []string{"endpoint.wait_for_model_mode", "endpoint.wait_for_model_interval"}, when: waitSettingsUnused,
		text: "needs {endpoint.wait_for_model_timeout}: without it aiperf does not wait", level: unused},
	{row: "13.2", keys: []string{"endpoint.reset_kv_cache", "endpoint.server_profiler"}, when: grpc,
		text: "asks over HTTP, and this run goes over gRPC ({endpoint.transport})"},
	{row: "7", keys: outputLengths, when: noTokens, text: "has no effect: the endpoint type produces no tokens", level: warning},
	{row: "61", keys: join(inputLengths, outputLengths, []string{prompts + "sequence_distribution", prompts + "batch_size"}, prefixPool,
		[]string{data + "prefix_prompts.shared_system_length", data + "prefix_prompts.user_context_length"}), when: noText,
		text: "is for text, which {endpoint.type} neither accepts nor produces", level: unused},
	{row: "61 tokenizer", keys: tokenizers, when: all(noText, endpointIsNot("image_retrieval")), text: "is for text, which {endpoint.type} neither accepts nor produces", level: unused},
	{row: "61 tokenizer", keys: tokenizers, when: all(noText, endpointIs("image_retrieval")), // GenAI-Perf had this type and accepted a tokenizer for it
		text: "has no effect: {endpoint.type} neither accepts nor produces text", level: warning},
	{row: "7", keys: outputLengths, when: noLength, text: "has no effect: bodies of the endpoint type hold no output length; {endpoint.extra} can add the setting of your server", level: warning},
	{row: "13", keys: outputLengths, when: all(not(noTokens), not(noLength), not(simulated), func(s *Subject) bool {
		_, ignored := s.Run.Endpoint.Extra.Get("ignore_eos")
		_, least := s.Run.Endpoint.Extra.Get("min_tokens")
		return s.Endpoint != nil && outputLength(s) > 0 && !ignored && !least
	}), text: "without ignore_eos or min_tokens in {endpoint.extra}: answers may end earlier", level: warning},
	{row: "honest", keys: join(outputLengths, []string{"endpoint.extra", "endpoint.use_legacy_max_tokens"}), when: all(completeBodies, not(readExtras)),
		text: "has no effect: bodies are sent unchanged from {" + data + "path}", level: warning},
	{row: "honest", keys: join(outputLengths, []string{"endpoint.use_legacy_max_tokens"}), when: all(completeBodies, readExtras),
		text: "has no effect: bodies are sent unchanged from {" + data + "path}", level: warning},
	{row: "honest", keys: []string{"endpoint.extra"}, when: all(completeBodies, sentExtras, readExtras),
		text: "has no effect on bodies: they are sent unchanged from {" + data + "path}", level: warning},
	{row: "honest", keys: []string{data + "prefix_prompts.shared_system_length", data + "prefix_prompts.user_context_length"},
		when: func(s *Subject) bool {
			return s.Endpoint != nil && !s.Endpoint.SystemMessage && !s.Endpoint.ContextText
		},
		text: "has no effect: the endpoint type takes no system messages", level: warning},

	{row: "2.1 MustStream", when: func(s *Subject) bool { return s.Endpoint != nil && s.Endpoint.MustStream && notStreaming(s) },
		problem: func(s *Subject) string {
			return "{endpoint.type} " + s.Run.Endpoint.Type + " works with {endpoint.streaming} only"
		}},
	{row: "2.1 content type", problem: func(s *Subject) string {
		asked := s.Run.Endpoint.RequestContentType
		if s.Endpoint == nil || s.Endpoint.Accepts(asked) {
			return ""
		}
		return "{endpoint.request_content_type} " + asked + ": " + encodings(s.Endpoint)
	}},
	{row: "62", when: endpointIs("template"), problem: func(s *Subject) string {
		_, given := s.Run.Endpoint.Extra.Get("payload_template")
		if given || s.Run.Endpoint.Template != nil && s.Run.Endpoint.Template.Body != "" {
			return ""
		}
		return "{endpoint.type} template needs {endpoint.extra} payload_template (or endpoint.template.body in a file): the template of its bodies"
	}},
	{row: "9.16", keys: []string{"endpoint.template"}, when: endpointIsNot("template"), text: "is for {endpoint.type} template"},
	{row: "9.12 reserved", level: warning, problem: func(s *Subject) string {
		var lost []string
		for _, m := range s.Run.Endpoint.Extra {
			if s.Endpoint != nil && slices.Contains(s.Endpoint.Reserved, m.Key) {
				lost = append(lost, m.Key)
			}
		}
		if len(lost) == 0 {
			return ""
		}
		return "{endpoint.extra} " + strings.Join(lost, ", ") + ": not sent; endpoint type " + s.Run.Endpoint.Type + " fills these fields from the data"
	}},
	{row: "per-chunk usage", keys: []string{"endpoint.per_chunk_usage"}, when: func(s *Subject) bool {
		e := &s.Run.Endpoint
		return e.PerChunkUsage && s.Endpoint != nil && !(e.Type == "chat" && e.Streaming && e.UseServerTokenCount)
	}, text: "needs {endpoint.type} chat, {endpoint.streaming} and {endpoint.use_server_token_count}: the count of the first content is the server's"},
	{row: "ours", keys: []string{"endpoint.require_stream_completion"}, when: func(s *Subject) bool {
		e := &s.Run.Endpoint
		return e.RequireCompletion && (e.Type != "chat" || !e.Streaming)
	}, text: "needs {endpoint.type} chat and {endpoint.streaming}: it checks the ends of such streams"},
	{row: "honest", keys: []string{"endpoint.download_video_content"}, when: func(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.FollowsUp },
		text: "has no effect: it is for {endpoint.type} video_generation", level: warning},
	{row: "63", keys: []string{"endpoint.uuid_and_strip"}, when: func(s *Subject) bool {
		return s.Run.Endpoint.UUIDAndStrip && s.Endpoint != nil && s.Run.Endpoint.Type != "chat"
	},
		text: "needs {endpoint.type} chat: other types send no ids of images"},
	{row: "63", keys: []string{"endpoint.uuid_and_strip"}, when: func(s *Subject) bool {
		return s.Run.Endpoint.UUIDAndStrip && !(s.File != nil && s.File.Format.Name == "single_turn")
	}, text: "needs single_turn rows of one session_id as {" + data + "path}"},

	{row: "11.1", keys: []string{"endpoint.backend"}, when: endpointIsNot("kserve"), text: "has no effect: it is for {endpoint.type} kserve", level: warning},
	{row: "12.1", when: all(endpointIs("dynamic_grpc"), func(s *Subject) bool { return s.Run.Endpoint.GRPCMethod == "" }),
		text: "{endpoint.type} dynamic_grpc needs {endpoint.grpc_method} package.Service/Method"},
	{row: "12.1", keys: []string{"endpoint.grpc_descriptors"}, when: endpointIsNot("dynamic_grpc"), text: "has no effect: it is for {endpoint.type} dynamic_grpc", level: warning},
	{row: "12.1", keys: []string{"endpoint.grpc_method"}, when: not(grpc), text: "needs an endpoint type that goes over gRPC: kserve or dynamic_grpc"},
	{row: "12.1", keys: []string{"endpoint.transport"}, when: func(s *Subject) bool { return grpc(s) && s.Endpoint != nil && !s.Endpoint.GRPC },
		problem: func(s *Subject) string { return "grpc: endpoint type " + s.Run.Endpoint.Type + " speaks HTTP" }},
}

// encodings lists the body encodings that an endpoint type supports.
func encodings(e *endpoint.Endpoint) string {
	if e.Forms == endpoint.FormsOnly {
		return "the endpoint type sends forms only (multipart/form-data)"
	}
	var forms []string
	for _, other := range endpoint.All() {
		if other.Forms != endpoint.JSONOnly {
			forms = append(forms, other.Name)
		}
	}
	return "endpoint type " + e.Name + " sends JSON only; forms are for " + strings.Join(forms, ", ")
}
