package agentic

// structureSessions is the number of sessions in the cache structure, counted from the first.
const structureSessions = 50

// Structure shows the layers in the prompts of the first sessions: the content of cache_structure.json, like in the Python tool.
type Structure struct {
	BlockSize int            `json:"block_size"`
	Layer1    int            `json:"l1_blocks"`
	Layer15   int            `json:"l15_blocks"`
	Sessions  []StructureRow `json:"sessions"`
}

// StructureRow is a session of a Structure.
type StructureRow struct {
	ID    string          `json:"session_id"`
	Turns []StructureTurn `json:"turns"`
}

// StructureTurn is a request. Input counts the tokens that its row adds. Blocks count the whole prompt.
type StructureTurn struct {
	Index    int       `json:"turn_index"`
	Input    int       `json:"input_length"`
	Output   int       `json:"output_length"`
	Blocks   int       `json:"num_blocks"`
	Segments []Segment `json:"segments"`
}

// Segment is a run of blocks in the same layer. L1 is common to all sessions, L1.5 to a group, L2 to a session, L3 is new in a later turn. Shared
// layers count as cached from the first turn on. So does everything that the previous turn had.
type Segment struct {
	Start  int    `json:"start"`
	Count  int    `json:"count"`
	Layer  string `json:"layer"`
	Status string `json:"status"`
}

// Status of a segment when the turn starts.
const (
	Cached = "cached"
	Fresh  = "new"
)

// StructureOf returns the structure of the first sessions.
func StructureOf(c *Config, sessions []Session) *Structure {
	v := &Structure{BlockSize: c.BlockSize, Layer1: blocksOf(c.Cache.Layer1, c.BlockSize), Layer15: blocksOf(c.Cache.Layer15, c.BlockSize)}
	for i := range min(len(sessions), structureSessions) {
		s := &sessions[i]
		row := StructureRow{ID: s.ID}
		before := 0
		for k := range s.Turns {
			t := &s.Turns[k]
			one := StructureTurn{Index: k, Input: t.New, Output: t.Output, Blocks: blocksOf(t.Input, c.BlockSize)}
			add := func(end int, layer, status string) {
				start := 0
				if n := len(one.Segments); n > 0 {
					start = one.Segments[n-1].Start + one.Segments[n-1].Count
				}
				if end = min(end, one.Blocks); end > start {
					one.Segments = append(one.Segments, Segment{start, end - start, layer, status})
				}
			}
			add(v.Layer1, "L1", Cached)
			add(v.Layer1+v.Layer15, "L1.5", Cached)
			if k == 0 {
				add(one.Blocks, "L2", Fresh)
			} else {
				add(before, "L2", Cached)
				add(one.Blocks, "L3", Fresh)
			}
			before = one.Blocks
			row.Turns = append(row.Turns, one)
		}
		v.Sessions = append(v.Sessions, row)
	}
	return v
}
