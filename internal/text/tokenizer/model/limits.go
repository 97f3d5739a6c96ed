package model

import "fmt"

// Maximum sizes of a tokenizer. Published ones have up to a million tokens and a quarter of a million rules.
const (
	MaxTokens = 1_500_000
	MaxRules  = 3_000_000
)

// FitTokens returns an error if a vocabulary of n tokens is too large.
func FitTokens(n int) error {
	if n > MaxTokens {
		return fmt.Errorf("more than %d tokens, which is more than any known tokenizer has", MaxTokens)
	}
	return nil
}
