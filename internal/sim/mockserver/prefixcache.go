package mockserver

import (
	"fmt"
	"hash/maphash"
	"math"
	"sync"
)

// Modes of the prefix cache for prompts that start like an earlier one.
const (
	cacheOff      = "off"
	cacheOn       = "on"       // usage and /metrics report the tokens that came from the cache
	cacheCounters = "counters" // only /metrics reports them
)

// Size of a cache block in bytes of the prompt, and the maximum number of blocks.
const (
	cacheBlock  = 64
	cacheBlocks = 1 << 20
)

// prefixCache stores the beginnings of prompts in blocks, as servers store their keys and values. It does not store answers.
type prefixCache struct {
	seed maphash.Seed

	mu             sync.Mutex
	blocks         map[uint64]struct{} // hashes of prompts up to the end of a block
	lookups, found int64               // numbers of tokens
}

func newPrefixCache() *prefixCache {
	return &prefixCache{seed: maphash.MakeSeed(), blocks: map[uint64]struct{}{}}
}

// add adds a prompt to the cache and returns how many of its tokens were already cached. A nil cache returns -1.
func (c *prefixCache) add(model, prompt string, tokens int) int {
	if c == nil {
		return -1
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(model)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.blocks) > cacheBlocks {
		clear(c.blocks)
	}
	same := 0
	for end := cacheBlock; end <= len(prompt); end += cacheBlock {
		_, _ = h.WriteString(prompt[end-cacheBlock : end])
		key := h.Sum64()
		if _, ok := c.blocks[key]; ok && same == end-cacheBlock {
			same = end
		}
		c.blocks[key] = struct{}{}
	}
	found := 0
	if same > 0 {
		found = int(math.Round(float64(tokens) * float64(same) / float64(len(prompt))))
	}
	c.lookups, c.found = c.lookups+int64(tokens), c.found+int64(found)
	return found
}

// clear empties the cache.
func (c *prefixCache) clear() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		clear(c.blocks)
	}
}

// text returns the cache's part of the metrics page, with vLLM's names; "" = no cache.
func (c *prefixCache) text(model string) (out string) {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range []struct {
		name, help string
		n          int64
	}{{"vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", c.lookups}, {"vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", c.found}} {
		out += fmt.Sprintf("# HELP %[1]s %[2]s\n# TYPE %[1]s counter\n%[1]s{model_name=%[3]q} %[4]d\n", one.name, one.help, model, one.n)
	}
	return out
}
