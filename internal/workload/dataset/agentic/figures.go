package agentic

// Rates for the estimated times, in tokens per s, as in the report of the Python tool.
const (
	PrefillRate = 20_000
	DecodeRate  = 60
)

// Figures holds the data of the plots: one value per turn or per session, in the order of the data set.
type Figures struct {
	Added    []float64 // per turn: tokens that its row adds; in the first turn the whole prompt
	Prompt   []float64 // per turn: tokens of the whole prompt
	Output   []float64 // per turn: tokens
	Blocks   []float64 // per turn: blocks of the whole prompt
	Latency  []float64 // per turn, in s: Added at PrefillRate, Output at DecodeRate
	Prefix   []float64 // per turn: leading tokens that an earlier request of any session had
	Unique   []float64 // per turn: Prompt minus Prefix
	Share    []float64 // per turn: Prefix / Prompt
	HitRate  []float64 // per turn: leading blocks that an earlier request had / Blocks
	Initial  []float64 // per session: tokens of the first prompt
	New      []float64 // per turn after the first: tokens that it adds
	Pause    []float64 // per turn after the first, in s
	Turns    []float64 // per session
	Duration []float64 // per session, in minutes: pauses and latencies
}

// FiguresOf computes the figures of sessions.
func FiguresOf(c *Config, sessions []Session) *Figures {
	f := &Figures{}
	kept := newUnboundedCache(c)
	for i := range sessions {
		s := &sessions[i]
		f.Initial, f.Turns = append(f.Initial, float64(s.Turns[0].Input)), append(f.Turns, float64(len(s.Turns)))
		seconds := 0.0
		for k := range s.Turns {
			t := &s.Turns[k]
			blocks := blocksOf(t.Input, c.BlockSize)
			lead := kept.add(s, blocks)
			prefix := float64(min(lead*c.BlockSize, t.Input))
			latency := float64(t.New)/PrefillRate + float64(t.Output)/DecodeRate
			seconds += latency
			f.Added, f.Prompt, f.Output = append(f.Added, float64(t.New)), append(f.Prompt, float64(t.Input)), append(f.Output, float64(t.Output))
			f.Blocks, f.Latency = append(f.Blocks, float64(blocks)), append(f.Latency, latency)
			f.Prefix, f.Unique = append(f.Prefix, prefix), append(f.Unique, float64(t.Input)-prefix)
			f.Share, f.HitRate = append(f.Share, prefix/float64(t.Input)), append(f.HitRate, float64(lead)/float64(blocks))
			if k > 0 {
				seconds += t.Delay / 1000
				f.New, f.Pause = append(f.New, float64(t.New)), append(f.Pause, t.Delay/1000)
			}
		}
		f.Duration = append(f.Duration, seconds/60)
	}
	return f
}

// OwnHitRates returns, for every prompt of a session, the fraction of blocks that its previous turn had; 0 for the first turn.
func OwnHitRates(c *Config, s *Session) []float64 {
	list, before := make([]float64, len(s.Turns)), 0
	for k := range s.Turns {
		blocks := blocksOf(s.Turns[k].Input, c.BlockSize)
		list[k], before = float64(min(before, blocks))/float64(blocks), blocks
	}
	return list
}

// unboundedCache simulates a cache of unlimited size. It holds the number of cached blocks per layer, because prompts fill every layer from its first
// block.
type unboundedCache struct {
	size   [2]int // blocks of the two shared layers
	all    int
	groups map[int]int
	own    map[int]int // by session number
}

func newUnboundedCache(c *Config) *unboundedCache {
	return &unboundedCache{size: [2]int{blocksOf(c.Cache.Layer1, c.BlockSize), blocksOf(c.Cache.Layer15, c.BlockSize)}, groups: map[int]int{}, own: map[int]int{}}
}

// add adds a prompt of n blocks to the cache and returns how many of its leading blocks were cached.
func (k *unboundedCache) add(s *Session, n int) (lead int) {
	part := [3]int{min(n, k.size[0])}
	part[1] = min(n-part[0], k.size[1])
	part[2] = n - part[0] - part[1]
	had := [3]int{k.all, k.groups[s.Group], k.own[s.Number]}
	for i, blocks := range part {
		lead += min(had[i], blocks)
		if had[i] < blocks {
			break
		}
	}
	k.all, k.groups[s.Group], k.own[s.Number] = max(had[0], part[0]), max(had[1], part[1]), max(had[2], part[2])
	return lead
}
