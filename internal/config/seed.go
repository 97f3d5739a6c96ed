package config

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Seed is the root of the random streams: an integer >= 0 of any size, in decimal digits without sign and leading zeros (spec: synthetic, section
// 9.2).
type Seed string

// maxSeedDigits is the maximum number of digits of a seed. Python reads no longer ones.
const maxSeedDigits = 4300

// ParseSeed reads an integer >= 0: digits, with an optional leading "+" and "_" between digits, as Python does.
func ParseSeed(text string) (Seed, error) {
	text = strings.TrimSpace(text)
	digits, minus := strings.CutPrefix(text, "-")
	if !minus {
		digits = strings.TrimPrefix(text, "+")
	}
	for part := range strings.SplitSeq(digits, "_") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return "", fmt.Errorf("is not an integer")
		}
	}
	digits = strings.TrimLeft(strings.ReplaceAll(digits, "_", ""), "0")
	switch {
	case len(digits) > maxSeedDigits:
		return "", fmt.Errorf("has more than %d digits", maxSeedDigits)
	case digits == "":
		return "0", nil
	case minus:
		return "", fmt.Errorf("must be >= 0")
	}
	return Seed(digits), nil
}

// RandomSeed returns a seed of 128 random bits.
func RandomSeed() *Seed {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	s := Seed(new(big.Int).SetBytes(b[:]).String())
	return &s
}

// Plus returns s + n.
func (s Seed) Plus(n int) Seed {
	sum, ok := new(big.Int).SetString(string(s), 10)
	if !ok {
		panic("a seed that is not a number: " + string(s)) // ParseSeed accepts only numbers
	}
	return Seed(sum.Add(sum, big.NewInt(int64(n))).String())
}

// MarshalYAML writes the integer with all its digits.
func (s Seed) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(s)}, nil
}

// MarshalJSON writes the integer with all its digits.
func (s Seed) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// UnmarshalYAML reads an integer, even one so long that YAML treats it as a float.
func (s *Seed) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a random_seed is an integer >= 0", n.Line)
	}
	seed, err := ParseSeed(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: random_seed: %s %w", n.Line, n.Value, err)
	}
	*s = seed
	return nil
}
