package run

import (
	"context"
	"fmt"
	"log/slog"

	"aiperf/internal/config"
	"aiperf/internal/tokenizer"
)

// tokenizers are those of a run's models, opened once each.
type tokenizers struct {
	byModel map[string]*tokenizer.Tokenizer
	first   *tokenizer.Tokenizer
}

// openTokenizers opens the tokenizer that --tokenizer names for all models, or else each model's own.
func openTokenizers(ctx context.Context, b *config.Benchmark, log *slog.Logger, info func(string, ...any), progress func(string, int64, int64)) (*tokenizers, error) {
	t := &tokenizers{byModel: map[string]*tokenizer.Tokenizer{}}
	opened := map[string]*tokenizer.Tokenizer{}
	for _, model := range b.Models.Items {
		name := b.Tokenizer.Name
		if name == "" {
			name = model.Tokenizer
		}
		if name == "" {
			name = model.Name
		}
		if opened[name] == nil {
			tok, err := tokenizer.Open(ctx, name, tokenizer.Options{Revision: b.Tokenizer.Revision, Progress: progress, Info: info})
			if err != nil {
				return nil, tokenizerError(b, name, err)
			}
			opened[name] = tok
			log.Info("tokenizer", "name", tok.Name(), "vocabulary", tok.VocabSize(), "model", model.Name)
		}
		t.byModel[model.Name] = opened[name]
		if t.first == nil {
			t.first = opened[name]
		}
	}
	return t, nil
}

// tokenizerError names the flag where it was given; a model's own name was not.
func tokenizerError(b *config.Benchmark, name string, err error) error {
	switch {
	case tokenizer.IsMissing(err):
		return err // says it all
	case b.Tokenizer.Name == "":
		return fmt.Errorf("tokenizer of model %s: %w", name, err)
	}
	return fmt.Errorf("--tokenizer %s: %w", name, err)
}

// of is the tokenizer of a model.
func (t *tokenizers) of(model string) *tokenizer.Tokenizer {
	if tok := t.byModel[model]; tok != nil {
		return tok
	}
	return t.first
}

// count is the number of tokens of a text for a model.
func (t *tokenizers) count(model, text string) int { return t.of(model).Count(text) }
