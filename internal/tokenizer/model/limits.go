package model

import "fmt"

// The most that a tokenizer may hold. Published ones have up to a million tokens and a quarter of a million rules.
const (
	MaxTokens = 1_500_000
	MaxRules  = 3_000_000
)

// FitTokens is the error of a vocabulary of n tokens that is too large.
func FitTokens(n int) error {
	if n > MaxTokens {
		return fmt.Errorf("more than %d tokens: no tokenizer is that large", MaxTokens)
	}
	return nil
}
