package redact

import (
	"maps"
	"sync"
	"sync/atomic"
)

// maxNames limits the names in a nameCache: they may come from a file of prompts.
const maxNames = 256

// nameCache stores the answers to a question about names. Reading takes no lock.
type nameCache struct {
	known atomic.Pointer[map[string]bool]
	mu    sync.Mutex // held while known is replaced
}

// get returns the stored answer about a name, or that of ask.
func (c *nameCache) get(name string, ask func(name string) bool) bool {
	known := c.known.Load()
	if known == nil {
		known = &map[string]bool{}
	}
	answer, ok := (*known)[name]
	if ok {
		return answer
	}
	if answer = ask(name); len(*known) < maxNames {
		c.store(name, answer)
	}
	return answer
}

// store adds an answer, if there is room.
func (c *nameCache) store(name string, answer bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := map[string]bool{}
	if known := c.known.Load(); known != nil {
		if len(*known) >= maxNames {
			return
		}
		next = maps.Clone(*known)
	}
	next[name] = answer
	c.known.Store(&next)
}
