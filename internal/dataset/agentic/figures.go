package agentic

// Rates behind estimated times, in tokens per s: those of the Python tool's report.
const (
	PrefillRate = 20_000
	DecodeRate  = 60
)

// Figures are what reports draw of sessions: a value for each turn, or for each session, in the order of the data set.
type Figures struct {
	Added    []float64 // of a turn: tokens of its row, the whole first prompt or what the turn adds
	Prompt   []float64 // of a turn: tokens of the whole prompt
	Output   []float64 // of a turn: tokens
	Blocks   []float64 // of a turn: of its whole prompt
	Latency  []float64 // of a turn, s: Added at PrefillRate, Output at DecodeRate
	Prefix   []float64 // of a turn: leading tokens that an earlier request of any session had
	Unique   []float64 // of a turn: Prompt without Prefix
	Share    []float64 // of a turn: Prefix over Prompt
	HitRate  []float64 // of a turn: leading blocks that an earlier request had, over Blocks
	Initial  []float64 // of a session: tokens of the first prompt
	New      []float64 // of a turn behind the first: tokens that it adds
	Pause    []float64 // of a turn behind the first, s
	Turns    []float64 // of a session
	Duration []float64 // of a session, minutes: pauses and latencies
}

// FiguresOf collects the figures of sessions.
func FiguresOf(c *Config, sessions []Session) *Figures {
	f := &Figures{}
	kept := newKept(c)
	for i := range sessions {
		s := &sessions[i]
		f.Initial, f.Turns = append(f.Initial, float64(s.Turns[0].Input)), append(f.Turns, float64(len(s.Turns)))
		seconds := 0.0
		for k := range s.Turns {
			t := &s.Turns[k]
			blocks := blocksOf(t.Input, c.BlockSize)
			lead := kept.take(s, blocks)
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

// OwnHitRates are the shares of a session's prompts that its turn before had, in blocks; 0 for the first turn.
func OwnHitRates(c *Config, s *Session) []float64 {
	list, before := make([]float64, len(s.Turns)), 0
	for k := range s.Turns {
		blocks := blocksOf(s.Turns[k].Input, c.BlockSize)
		list[k], before = float64(min(before, blocks))/float64(blocks), blocks
	}
	return list
}

// kept is a cache without end: how many blocks of each layer some prompt had. Prompts fill every layer from its first block.
type kept struct {
	size   [2]int // blocks of the two layers that sessions share
	all    int
	groups map[int]int
	own    map[int]int // by number of the session
}

func newKept(c *Config) *kept {
	return &kept{size: [2]int{blocksOf(c.Cache.Layer1, c.BlockSize), blocksOf(c.Cache.Layer15, c.BlockSize)}, groups: map[int]int{}, own: map[int]int{}}
}

// take puts a prompt of n blocks into the cache and returns how many of its leading blocks were there.
func (k *kept) take(s *Session, n int) (lead int) {
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
