package results

import (
	"context"
	"fmt"
	"log/slog"

	"aiperf/internal/base/budget"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
)

// Tokenizers holds the tokenizers of a run's models, each opened once.
type Tokenizers struct {
	byModel     map[string]*tokenizer.Tokenizer
	first       *tokenizer.Tokenizer
	all         []*tokenizer.Tokenizer // without duplicates
	interrupted func() bool            // returns true when the user waits for the end; nil = never
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

// NeedsOwnTokenizer reports whether the built-in tokenizer must not replace the tokenizer of a model. That is so if the settings name one, or if token
// counts of this client are results. They are not results where answers are images, videos or transcripts, or where the server counts the input of
// embeddings and rankings.
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

// tokenizerError adds the setting to an error if the user named the tokenizer; the model's own name is not a setting.
func tokenizerError(b *config.Benchmark, name string, err error) error {
	err = tokenizer.Worded(err, b.As)
	switch {
	case tokenizer.IsMissing(err):
		return err // the error is already complete
	case b.Tokenizer.Name != name:
		return fmt.Errorf("tokenizer of model %s: %w", name, err)
	}
	return fmt.Errorf("%s %s: %w", b.As("tokenizer.name"), name, err)
}

// Of returns the tokenizer of a model.
func (t *Tokenizers) Of(model string) *tokenizer.Tokenizer {
	if tok := t.byModel[model]; tok != nil {
		return tok
	}
	return t.first
}

// Limits for counting one text of a request, in steps of the tokenizer: about 10 s, and more for a text of many words; 0.2 s when the user waits for
// the end.
const (
	countSteps   = 1 << 30
	stepsPerByte = 64
	countBytes   = 256 << 20
	hurriedSteps = 16 << 20
)

// Count returns the number of tokens of a text of a request for a model. An error means that counting it exceeds the limits.
func (t *Tokenizers) Count(model, text string) (int, error) {
	return t.Of(model).CountWithin(budget.Limits{Steps: countSteps + stepsPerByte*int64(len(text)), Bytes: countBytes, Stop: t.interrupted, Free: hurriedSteps}, text)
}

// Err returns the first error of a tokenizer whose rules cannot encode any text.
func (t *Tokenizers) Err() error {
	for _, tok := range t.all {
		if err := tok.Err(); err != nil {
			return err
		}
	}
	return nil
}

// First returns the tokenizer of the first model.
func (t *Tokenizers) First() *tokenizer.Tokenizer { return t.first }

// All lists every tokenizer once, in the order of the models.
func (t *Tokenizers) All() []*tokenizer.Tokenizer { return t.all }
