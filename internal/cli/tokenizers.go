package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/tokenizer"
)

// findLimit is how long a dry run may look for tokenizers.
const findLimit = 15 * time.Second

// findTokenizers opens every tokenizer that a run needs and throws it away: a dry run tells today what the run would stumble over.
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

// needsOwn tells whether the built-in tokenizer may not stand in for one of a run's tokenizers.
func needsOwn(run *config.Run, name string) bool {
	for i := range run.Models.Items {
		if m := &run.Models.Items[i]; run.TokenizerOf(m) == name && assembly.NeedsOwnTokenizer(&run.Benchmark, m) {
			return true
		}
	}
	return false
}

// published reports whether all tokenizers of a run are published encodings: the names are right, only the lists may have to be fetched
// before the run.
func published(run *config.Run) bool {
	for _, name := range tokenizerNames(run) {
		if _, ok := tokenizer.EncodingOf(name); !ok {
			return false
		}
	}
	return true
}

// tokenizerNames are the tokenizers that a run opens, each once, in the order of the models.
func tokenizerNames(run *config.Run) (names []string) {
	for i := range run.Models.Items {
		if name := run.TokenizerOf(&run.Models.Items[i]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
