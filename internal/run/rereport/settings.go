package rereport

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// settings returns the settings of the run, or those guessed from its requests, with the user's changes. It sets o.Endpoint.
func (o *Options) settings(s *source) (*config.Benchmark, error) {
	b, err := s.settings()
	if err != nil {
		return nil, err
	}
	switch {
	case o.Streaming != nil:
		b.Endpoint.Streaming = *o.Streaming
	case s.python || s.prior.InputConfig == nil:
		b.Endpoint.Streaming = streamed(s.first.Payload.Bytes(), s.streamed || b.Endpoint.Streaming)
	}
	for _, one := range []struct {
		given *bool
		field *bool
	}{{o.ServerTokens, &b.Endpoint.UseServerTokenCount}, {o.PerChunkUsage, &b.Endpoint.PerChunkUsage}, {o.ShowTrace, &b.Artifacts.ShowTraceTiming}} {
		if one.given != nil {
			*one.field = *one.given
		}
	}
	if o.SliceSeconds != nil {
		b.Artifacts.SliceDuration = o.slice()
	}
	if o.Tokenizer != "" {
		b.Tokenizer.Name, b.Tokenizer.Revision = o.Tokenizer, "main"
		b.OneTokenizer()
	}
	if o.Revision != "" {
		b.Tokenizer.Revision = o.Revision
	}
	if o.Prefix != "" {
		b.Artifacts.Prefix = o.Prefix
	} else if filepath.IsAbs(b.Artifacts.Prefix) { // that path holds the run's own files
		b.Artifacts.Prefix = filepath.Base(b.Artifacts.Prefix)
	}
	b.Artifacts.Records = config.Formats{"jsonl"}
	switch {
	case o.Endpoint != nil:
		b.Endpoint.Type = o.Endpoint.Name
	case b.Endpoint.Type == "":
		return nil, errors.New("report: the requests do not show the endpoint type; give " + o.Spell.As("endpoint.type"))
	default:
		o.Endpoint, _, err = endpoint.Lookup(b.Endpoint.Type)
	}
	if err == nil {
		o.Endpoint = o.Endpoint.Given(b.Endpoint.Extra.Has)
	}
	return b, err
}

// slice returns the length of a time slice for the configuration; nil = no slices.
func (o *Options) slice() *config.Seconds {
	if !(*o.SliceSeconds > 0) {
		return nil
	}
	s := config.Seconds(*o.SliceSeconds)
	return &s
}

// settings returns the settings in the summary. Without a summary, or if that of the Python tool cannot be read, it guesses them from the first
// request.
func (s *source) settings() (*config.Benchmark, error) {
	if s.prior.InputConfig != nil {
		b, err := config.ReadInputConfig(s.prior.InputConfig)
		switch {
		case err == nil:
			s.complete(b)
			return b, nil
		case !s.python:
			return nil, fmt.Errorf("report: the summary of the run: %w", err)
		}
	}
	b := &config.Default().Benchmark
	was := s.prior.names()
	b.Tokenizer.Name, b.Endpoint.Type = was.Tokenizer.Name, was.Endpoint.Type
	if b.Endpoint.Type == "" {
		b.Endpoint.Type = guess(s.first.Payload.Bytes())
	}
	s.complete(b)
	return b, nil
}

// complete adds a model and a tokenizer to settings that name none: the client of the Python tool always had one.
func (s *source) complete(b *config.Benchmark) {
	if len(b.Models.Items) == 0 {
		b.Models.Items = []config.Model{{Name: s.first.Model}}
	}
	if b.Tokenizer.Name == "" && (s.python || s.prior.InputConfig == nil) {
		b.Tokenizer.Name = "builtin"
	}
}

// pythonSettings are the settings that every summary of the Python tool contains.
type pythonSettings struct {
	Endpoint struct {
		Type string `json:"type"`
	} `json:"endpoint"`
	Tokenizer struct {
		Name string `json:"name"`
	} `json:"tokenizer"`
}

func (p *priorSummary) names() (n pythonSettings) {
	if json.Unmarshal(p.InputConfig, &n) != nil {
		return pythonSettings{}
	}
	return n
}

// streamed reports whether the run requested streams, as the body says. If the body does not say, it returns otherwise.
func streamed(payload []byte, otherwise bool) bool {
	var body struct {
		Stream *bool `json:"stream"`
	}
	if json.Unmarshal(payload, &body) == nil && body.Stream != nil {
		return *body.Stream
	}
	return otherwise
}

// guess guesses the endpoint type from the keys of a request body; "" = unknown.
func guess(payload []byte) string {
	var body map[string]json.RawMessage
	if json.Unmarshal(payload, &body) != nil {
		return ""
	}
	if body["input"] != nil && body["stream"] != nil {
		return "responses"
	}
	for _, g := range []struct{ key, name string }{
		{"messages", "chat"}, {"passages", "nim_rankings"}, {"documents", "cohere_rankings"}, {"texts", "hf_tei_rankings"},
		{"prompt", "completions"}, {"input", "embeddings"},
	} {
		if _, ok := body[g.key]; ok {
			return g.name
		}
	}
	return ""
}
