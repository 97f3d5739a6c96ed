package assembly

import (
	"context"
	"fmt"
	"log/slog"

	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/record"
	"aiperf/internal/tokenizer"
)

// Tokenizers are those of a run's models, opened once each.
type Tokenizers struct {
	byModel map[string]*tokenizer.Tokenizer
	first   *tokenizer.Tokenizer
	all     []*tokenizer.Tokenizer // each once
}

// OpenTokenizers opens the tokenizer that the settings name for all models, or else each model's own.
func OpenTokenizers(ctx context.Context, b *config.Benchmark, log *slog.Logger, info func(string, ...any), progress func(string, int64, int64)) (*Tokenizers, error) {
	t := &Tokenizers{byModel: map[string]*tokenizer.Tokenizer{}}
	opened := map[string]*tokenizer.Tokenizer{}
	for i := range b.Models.Items {
		model := &b.Models.Items[i]
		name := b.TokenizerOf(model)
		if opened[name] == nil {
			tok, err := tokenizer.Open(ctx, name, tokenizer.Options{Revision: b.Tokenizer.Revision, Progress: progress, Info: info})
			if tokenizer.IsMissing(err) && !NeedsOwnTokenizer(b, model) {
				if tok, err = tokenizer.Builtin(); err == nil && info != nil {
					info("no tokenizer found for model %q: using the built-in one, so lengths of prompts are approximate (choose another with %s)", name, b.As("tokenizer.name"))
				}
			}
			if err != nil {
				return nil, tokenizerError(b, name, err)
			}
			opened[name] = tok
			log.Info("tokenizer", "name", tok.Name(), "vocabulary", tok.VocabSize(), "model", model.Name)
			t.all = append(t.all, tok)
		}
		t.byModel[model.Asked()] = opened[name]
		if t.first == nil {
			t.first = opened[name]
		}
	}
	return t, nil
}

// NeedsOwnTokenizer tells whether the built-in tokenizer may not stand in for the tokenizer of a model: somebody names one, or token counts of
// this client are results. They are not where answers are pictures, videos or transcripts, nor where the server counts the input of embeddings and
// rankings.
func NeedsOwnTokenizer(b *config.Benchmark, m *config.Model) bool {
	e, _, err := endpoint.Lookup(b.Endpoint.Type)
	if err != nil || b.TokenizerOf(m) != m.Name || b.Tokenizer.Name != "" || (b.Tokenizer.Revision != "" && b.Tokenizer.Revision != "main") {
		return true
	}
	e = e.Given(b.Endpoint.Extra.Has)
	if e.Produces == record.Embeddings || e.Ranks() {
		return !b.Endpoint.UseServerTokenCount
	}
	return e.ProducesTokens
}

// tokenizerError names the flag where it was given; a model's own name was not.
func tokenizerError(b *config.Benchmark, name string, err error) error {
	err = tokenizer.Worded(err, b.As)
	switch {
	case tokenizer.IsMissing(err):
		return err // says it all
	case b.Tokenizer.Name != name:
		return fmt.Errorf("tokenizer of model %s: %w", name, err)
	}
	return fmt.Errorf("%s %s: %w", b.As("tokenizer.name"), name, err)
}

// Of is the tokenizer of a model.
func (t *Tokenizers) Of(model string) *tokenizer.Tokenizer {
	if tok := t.byModel[model]; tok != nil {
		return tok
	}
	return t.first
}

// Count is the number of tokens of a text for a model.
func (t *Tokenizers) Count(model, text string) int { return t.Of(model).Count(text) }

// First is the tokenizer of the first model.
func (t *Tokenizers) First() *tokenizer.Tokenizer { return t.first }

// All lists every tokenizer once, in the order of the models.
func (t *Tokenizers) All() []*tokenizer.Tokenizer { return t.all }
