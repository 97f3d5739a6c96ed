package pipeline

import (
	"hash/maphash"
	"sync"
)

// maxInputCounts is how many counts are stored, of 40 bytes each.
const maxInputCounts = 1 << 16

// inputCounts stores how many tokens the texts of earlier requests have: runs send the same prompts many times. Two hash values of 64 bits identify a text,
// so two of a million texts are confused once in 10^26 runs.
type inputCounts struct {
	seeds  [2]maphash.Seed
	mu     sync.Mutex
	counts map[[2]uint64]int
}

func newInputCounts() *inputCounts {
	return &inputCounts{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, counts: map[[2]uint64]int{}}
}

// key identifies a text and its model.
func (c *inputCounts) key(model, text string) (key [2]uint64) {
	for i, seed := range c.seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		_, _ = h.WriteString(model) // hashing cannot fail
		_ = h.WriteByte(0)
		_, _ = h.WriteString(text)
		key[i] = h.Sum64()
	}
	return key
}

// count returns the number of tokens of a text of a request: the stored one, or what f returns. An error is not stored.
func (c *inputCounts) count(model, text string, f func(model, text string) (int, error)) (int, error) {
	key := c.key(model, text)
	c.mu.Lock()
	n, known := c.counts[key]
	c.mu.Unlock()
	if known {
		return n, nil
	}
	n, err := f(model, text)
	if err != nil {
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.counts) >= maxInputCounts {
		clear(c.counts)
	}
	c.counts[key] = n
	return n, nil
}
