package agentic

import (
	"math"
	"reflect"
	"testing"
)

// layered returns a configuration whose layers end inside blocks, with few groups and with splits.
func layered() *Config {
	c := Default()
	c.Cache.Layer1, c.Cache.Layer15, c.BlockSize, c.MaxPrompt, c.RestartChance = 1000, 700, 256, 60000, 0.8
	c.Cache.Groups.Number = 3
	return c
}

// idsOf returns the ids of the whole prompts of a session: those of the first prompt, then new ones.
func idsOf(c *Config, s *Session) (list [][]int) {
	for _, t := range s.Turns {
		ids := append([]int{}, s.Prefix...)
		for len(ids) < (t.Input+c.BlockSize-1)/c.BlockSize {
			ids = append(ids, ids[len(ids)-1]+1)
		}
		list = append(list, ids)
	}
	return list
}

// TestFigures compares prefixes and hit rates with a simulation that uses sets of ids.
func TestFigures(t *testing.T) {
	c := layered()
	sessions := generate(t, c, 40)
	f := FiguresOf(c, sessions)
	seen, n := map[int]bool{}, 0
	for i := range sessions {
		s := &sessions[i]
		own, before := OwnHitRates(c, s), map[int]bool{}
		for k, ids := range idsOf(c, s) {
			lead, mine := 0, 0
			for lead < len(ids) && seen[ids[lead]] {
				lead++
			}
			for mine < len(ids) && before[ids[mine]] {
				mine++
			}
			for _, id := range ids {
				seen[id], before[id] = true, true
			}
			prefix := math.Min(float64(lead*256), float64(s.Turns[k].Input))
			if f.Prefix[n] != prefix || f.Prefix[n]+f.Unique[n] != f.Prompt[n] || f.HitRate[n] != float64(lead)/float64(len(ids)) || f.Blocks[n] != float64(len(ids)) || own[k] != float64(mine)/float64(len(ids)) {
				t.Fatalf("session %d, turn %d: prefix %v of %v, hit rate %v, own %v; ids say %v, %d and %d of %d", i, k, f.Prefix[n], f.Prompt[n], f.HitRate[n], own[k], prefix, lead, mine, len(ids))
			}
			n++
		}
	}
	if n != len(f.Prompt) || n != Requests(sessions) || len(f.Duration) != len(sessions) || len(f.Pause) != n-len(sessions) {
		t.Errorf("%d turns of %d sessions, %d figures", n, len(sessions), len(f.Prompt))
	}
	one := &Session{Prefix: []int{0}, Turns: []Turn{{Input: 200, New: 200, Output: 60}, {Input: 2260, New: 2000, Output: 30, Delay: 59_000}}}
	if g := FiguresOf(c, []Session{*one}); math.Abs(g.Duration[0]-(59+2200./20000+90./60)/60) > 1e-12 || g.Pause[0] != 59 || g.Latency[1] != 0.6 {
		t.Errorf("%+v", g)
	}
}

// TestStructure checks that segments cover a prompt by the layers of its ids, and are new if the previous turn did not have them.
func TestStructure(t *testing.T) {
	c := layered()
	sessions := generate(t, c, 60)
	v := StructureOf(c, sessions)
	if v.BlockSize != 256 || v.Layer1 != 4 || v.Layer15 != 3 || len(v.Sessions) != structureSessions {
		t.Fatalf("%d %d %d, %d sessions", v.BlockSize, v.Layer1, v.Layer15, len(v.Sessions))
	}
	for i, s := range v.Sessions {
		before := map[int]bool{}
		for k, ids := range idsOf(c, &sessions[i]) {
			var want []Segment
			for at, id := range ids {
				layer, status := "L2", Fresh
				switch {
				case id < 4:
					layer, status = "L1", Cached
				case id < FirstOwn(c):
					layer, status = "L1.5", Cached
				case before[id]:
					status = Cached
				case k > 0:
					layer = "L3"
				}
				if n := len(want); n > 0 && want[n-1].Layer == layer && want[n-1].Status == status {
					want[n-1].Count++
				} else {
					want = append(want, Segment{at, 1, layer, status})
				}
			}
			if got := s.Turns[k]; got.Index != k || got.Blocks != len(ids) || !reflect.DeepEqual(got.Segments, want) {
				t.Fatalf("session %d, turn %d: %+v, want %+v", i, k, got, want)
			}
			before = map[int]bool{}
			for _, id := range ids {
				before[id] = true
			}
		}
	}
}
