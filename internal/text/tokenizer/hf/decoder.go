package hf

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/text/tokenizer/pipeline"
)

// decoderPart holds the settings of any decoder.
type decoderPart struct {
	Type           string
	Decoders       []json.RawMessage
	Prefix         *string
	Suffix         *string
	Cleanup        *bool
	Replacement    string
	AddPrefixSpace *bool   `json:"add_prefix_space"`
	PrependScheme  *string `json:"prepend_scheme"`
	Pattern        pattern
	Content        string
	Start          int
	Stop           int
	PadToken       *string `json:"pad_token"`
	WordDelimiter  *string `json:"word_delimiter_token"`
}

// decoders are the supported kinds, by their type.
var decoders = map[string]func(p *decoderPart) (pipeline.Step, error){
	"BPEDecoder": func(p *decoderPart) (pipeline.Step, error) {
		return pipeline.SuffixStep(orDefault(p.Suffix, "</w>")), nil
	},
	"ByteFallback": func(*decoderPart) (pipeline.Step, error) { return pipeline.ByteFallbackStep, nil },
	"ByteLevel":    func(*decoderPart) (pipeline.Step, error) { return pipeline.ByteLevelStep, nil },
	"CTC": func(p *decoderPart) (pipeline.Step, error) {
		return pipeline.CTCStep(orDefault(p.PadToken, "<pad>"), orDefault(p.WordDelimiter, "|"), isOn(p.Cleanup)), nil
	},
	"Fuse": func(*decoderPart) (pipeline.Step, error) { return pipeline.Fuse, nil },
	"Metaspace": func(p *decoderPart) (pipeline.Step, error) {
		mark := p.Replacement
		if mark == "" {
			mark = "▁"
		}
		drop := isOn(p.AddPrefixSpace)
		if p.PrependScheme != nil {
			drop = *p.PrependScheme != "never"
		}
		return pipeline.MetaspaceStep(mark, drop), nil
	},
	"Replace": func(p *decoderPart) (pipeline.Step, error) {
		n, err := newReplace(p.Pattern, p.Content)
		if err != nil {
			return nil, err
		}
		return pipeline.ReplaceStep(n), nil
	},
	"Strip": func(p *decoderPart) (pipeline.Step, error) {
		return pipeline.StripStep(p.Content, p.Start, p.Stop), nil
	},
	"WordPiece": func(p *decoderPart) (pipeline.Step, error) {
		return pipeline.WordPieceStep(orDefault(p.Prefix, "##"), isOn(p.Cleanup)), nil
	},
}

// newDecoder returns the steps of a section. byteLevel means that it is only a ByteLevel decoder.
func newDecoder(raw json.RawMessage, where string, depth int) (steps []pipeline.Step, byteLevel bool, err error) {
	if isNull(raw) {
		return []pipeline.Step{pipeline.Join}, false, nil
	}
	var p decoderPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, false, fmt.Errorf("%s: %w", where, err)
	}
	if p.Type == "Sequence" {
		if depth > maxNested {
			return nil, false, fmt.Errorf("%s: sequences nested deeper than %d", where, maxNested)
		}
		for i, r := range p.Decoders {
			s, _, err := newDecoder(r, fmt.Sprintf("%s.decoders[%d]", where, i), depth+1)
			if err != nil {
				return nil, false, err
			}
			steps = append(steps, s...)
		}
		return steps, false, nil
	}
	build, ok := decoders[p.Type]
	if !ok {
		return nil, false, unknown(where, p.Type, decoders)
	}
	s, err := build(&p)
	if err != nil {
		return nil, false, fmt.Errorf("%s (%s): %w", where, p.Type, err)
	}
	return []pipeline.Step{s}, p.Type == "ByteLevel", nil
}
