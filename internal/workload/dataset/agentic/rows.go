package agentic

import (
	"bufio"
	"errors"
	"io"
	"math"

	"aiperf/internal/base/jsontext"
)

// Rows calls f with every row of the data set: a turn of a session and the ids of the row. The first turn has the ids of its whole prompt. Later turns
// have new ids for their new tokens, which no other row has.
func Rows(c *Config, sessions []Session, f func(s *Session, turn int, ids []int) error) error {
	next := map[int]int{} // next free id by session number; both parts of a split session have the same number
	for i := range sessions {
		s := &sessions[i]
		free := max(next[s.Number], s.Prefix[len(s.Prefix)-1]+1)
		if own := FirstOwn(c) + maxSessionBlocks*s.Number; free < own {
			free = own // the first prompt has no own blocks
		}
		for k := range s.Turns {
			ids := s.Prefix
			if k > 0 {
				ids = make([]int, blocksOf(s.Turns[k].New, c.BlockSize))
				for n := range ids {
					ids[n] = free
					free++
				}
			}
			if err := f(s, k, ids); err != nil {
				return err
			}
		}
		next[s.Number] = free
	}
	return nil
}

// FirstOwn returns the first id of a single session. Lower ids belong to all sessions or to a group.
func FirstOwn(c *Config) int { return blocksOf(c.Cache.Layer1, c.BlockSize) + maxGroups*groupBlocks }

// Pause returns the delay of a turn as written in its row: ms with one decimal.
func (t *Turn) Pause() float64 { return math.RoundToEven(t.Delay*10) / 10 }

// WriteRows writes the sessions as rows of the mooncake format.
func WriteRows(w io.Writer, c *Config, sessions []Session) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	err := Rows(c, sessions, func(s *Session, turn int, ids []int) error {
		t := &s.Turns[turn]
		o := jsontext.Open(line[:0])
		o.Text("session_id", s.ID)
		o.Int("input_length", int64(t.New))
		o.Int("output_length", int64(t.Output))
		o.Key("hash_ids")
		o.B = jsontext.AppendInts(o.B, ids)
		if turn == 0 {
			o.Raw("timestamp", []byte("0.0"))
			o.Int("group_id", int64(s.Group))
			if s.Continues {
				o.Bool("is_restart", true)
			}
		} else {
			o.Float("delay", t.Pause())
		}
		line = append(o.Close(), '\n')
		_, err := out.Write(line)
		return err
	})
	return errors.Join(err, out.Flush())
}
