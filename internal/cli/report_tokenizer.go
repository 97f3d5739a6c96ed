package cli

import (
	"context"
	"fmt"

	"aiperf/internal/tokenizer"
)

// openTokenizer finds a tokenizer for counting.
func (p *Program) openTokenizer(_ context.Context, name, _ string) (*tokenizer.Tokenizer, error) {
	if name == "builtin" {
		return tokenizer.Builtin()
	}
	return nil, fmt.Errorf("%q is not known; builtin is", name)
}
