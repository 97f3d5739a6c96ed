package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/tokenizer"
)

// findLimit is how long a dry run may look for tokenizers.
const findLimit = 15 * time.Second

// findTokenizers opens every tokenizer that a run needs and throws it away: a dry run tells today what the run would stumble over.
func findTokenizers(ctx context.Context, run *config.Run) error {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	names := []string{run.Tokenizer.Name}
	if names[0] == "" {
		names = run.Models.Names()
	}
	for _, name := range names {
		if _, err := tokenizer.Open(ctx, name, tokenizer.Options{Revision: run.Tokenizer.Revision}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// encodingName reports whether a tokenizer is a published encoding: the name is right, only its list may have to be fetched before the run.
func encodingName(name string) bool {
	for _, ending := range []string{"_base", "_edit", "_harmony"} {
		if strings.HasSuffix(name, ending) && !strings.ContainsAny(name, `/\`) {
			return true
		}
	}
	return false
}
