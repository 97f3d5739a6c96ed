package redact

import (
	"strconv"
	"sync"
	"testing"
)

// TestNameCache: the cache answers as the function does, also above its limit, and calls the function once for each name.
func TestNameCache(t *testing.T) {
	var c nameCache
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for i := range 2 * maxNames {
				if got := c.get(strconv.Itoa(i), func(name string) bool { return len(name)%2 == 1 }); got != (len(strconv.Itoa(i))%2 == 1) {
					t.Errorf("wrong answer for %d", i)
				}
			}
		})
	}
	asking.Wait()
	if n := len(*c.known.Load()); n != maxNames {
		t.Errorf("%d names are stored, want %d", n, maxNames)
	}
	c.get("0", func(string) bool { t.Error("asked for a stored name"); return false })
}
