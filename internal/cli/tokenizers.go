package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/run/results"
	"aiperf/internal/text/tokenizer"
)

// findLimit is the time limit for a dry run to find tokenizers.
const findLimit = 15 * time.Second

// findTokenizers opens every tokenizer that a run needs and closes it, so that a dry run reports the errors of the run.
func findTokenizers(ctx context.Context, run *config.Run) error {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	for _, name := range tokenizerNames(run) {
		_, err := tokenizer.Open(ctx, name, tokenizer.Options{Revision: run.Tokenizer.Revision})
		if tokenizer.IsMissing(err) && !needsOwn(run, name) {
			continue // the run uses the built-in one, with a note
		}
		if err != nil {
			err = tokenizer.Worded(err, run.As)
			if tokenizer.IsMissing(err) {
				return err
			}
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// needsOwn reports whether the built-in tokenizer must not replace one of a run's tokenizers.
func needsOwn(run *config.Run, name string) bool {
	for i := range run.Models.Items {
		if m := &run.Models.Items[i]; run.TokenizerOf(m) == name && results.NeedsOwnTokenizer(&run.Benchmark, m) {
			return true
		}
	}
	return false
}

// published reports whether all tokenizers of a run are published encodings: their names are right, and only their vocabularies may have to be
// downloaded before the run.
func published(run *config.Run) bool {
	for _, name := range tokenizerNames(run) {
		if _, ok := tokenizer.EncodingOf(name); !ok {
			return false
		}
	}
	return true
}

// tokenizerNames returns the tokenizers that a run opens, without duplicates, in the order of the models.
func tokenizerNames(run *config.Run) (names []string) {
	for i := range run.Models.Items {
		if name := run.TokenizerOf(&run.Models.Items[i]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
