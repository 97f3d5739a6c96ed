package cli

import (
	"context"

	"aiperf/internal/tokenizer"
)

// openTokenizer finds a tokenizer for counting.
func (p *Program) openTokenizer(ctx context.Context, name, revision string) (*tokenizer.Tokenizer, error) {
	return tokenizer.Open(ctx, name, tokenizer.Options{Revision: revision, Info: p.warnf})
}
