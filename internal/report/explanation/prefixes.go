package explanation

import (
	"fmt"
	"hash/maphash"
	"slices"

	"aiperf/internal/report/runfiles"
)

// sharedStart is how many bytes at the beginning of a prompt two requests of a prefix group share.
const sharedStart = 512

// prefixes adds the groups of requests whose prompts begin alike, from the raw export. The groups are numbered by size.
func (c *collector) prefixes() error {
	seed := maphash.MakeSeed()
	group := map[string]uint64{} // by request
	size := map[uint64]int{}
	var order []uint64 // by first appearance, so that the numbers do not depend on the seed
	err := c.run.Turns(func(t runfiles.Turn) {
		var h maphash.Hash
		h.SetSeed(seed)
		left := sharedStart
		for _, m := range t.Messages {
			text := m.Text[:min(len(m.Text), left)]
			_, _ = h.WriteString(text) // never fails
			if left -= len(text); left == 0 {
				break
			}
		}
		if left == sharedStart {
			return
		}
		sum := h.Sum64()
		if size[sum] == 0 {
			order = append(order, sum)
		}
		size[sum]++
		group[t.ID] = sum
	})
	if err != nil {
		if isMissing(err) {
			c.missing("the prompts, to see which begin alike (" + spell("artifacts.records") + " raw" + ")")
			return nil
		}
		return err
	}
	slices.SortStableFunc(order, func(a, b uint64) int { return size[b] - size[a] })
	name := map[uint64]string{}
	for n, sum := range order {
		if size[sum] > 1 {
			name[sum] = fmt.Sprint(n + 1)
		} else {
			name[sum] = "none"
		}
	}
	c.category("prefix_group", "prefix group", "had a prompt of the prefix group", "had", func(i int) string { return name[group[c.q.ID[i]]] })
	return nil
}
