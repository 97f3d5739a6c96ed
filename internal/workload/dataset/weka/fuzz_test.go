package weka

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// FuzzTrace checks for any trace that every request has the recorded number of tokens, that equal ids give equal blocks, and that session names are
// unique.
func FuzzTrace(f *testing.F) {
	var cases []recordedCase
	read(f, "testdata/recorded.json.gz", &cases)
	for i := range cases[:40] {
		f.Add([]byte(cases[i].Trace), i%2 == 0)
	}
	f.Add([]byte(`{"id":"","models":[],"block_size":1,"hash_id_scope":"","requests":[{"t":0,"type":"n","model":"0","in":0,"out":0,"hash_ids":0}]}`), false)
	f.Fuzz(func(t *testing.T, text []byte, tools bool) {
		var faults dataset.Faults
		r := rows.Parse("x", text, &faults)
		if r == nil {
			return
		}
		trace := Read(r)
		if (trace == nil) != (faults.Count() > 0) {
			t.Fatalf("%v, %d faults", trace, faults.Count())
		}
		if trace == nil || trace.block > 1<<20 {
			return
		}
		if out, err := NewRoundWriter().Append(nil, trace); (err == nil) != (len(out) > 0) { // the writer reads back what it wrote
			t.Fatalf("%s, %v", out, err)
		}
		idle := 1.0
		list, _ := trace.Sessions(Options{Detection: detection, Tools: tools, IdleCap: &idle, Recorded: true}, &faults)
		if faults.Count() > 0 {
			return
		}
		names := map[string]bool{}
		for i := range list {
			s := &list[i]
			if names[s.ID] {
				t.Fatalf("%s is there twice", s.ID)
			}
			names[s.ID] = true
			all := s.Messages(named{})
			for k, messages := range all {
				if why := s.wrong(k, messages); why != "" {
					t.Fatalf("%s turn %d: %s", s.ID, k, why)
				}
			}
			packed := s.Pack(nil)
			back, err := Unpack(packed)
			if err != nil || !reflect.DeepEqual(back.Messages(named{}), all) {
				t.Fatalf("%s is %+v, packed %+v, %v", s.ID, s, back, err)
			}
			heads, err := Unpack(packed[:HeadSize(packed)])
			for k := range s.Turns {
				s.Turns[k].Input, s.Turns[k].HashIDs, s.Turns[k].Took = 0, nil, 0 // these fields are not packed
			}
			if err != nil || !reflect.DeepEqual(heads.Turns, s.Turns) || heads.ID != s.ID || heads.Parent != s.Parent || heads.Join != s.Join || heads.Before != s.Before {
				t.Fatalf("%+v, packed %+v, %v", s, heads, err)
			}
		}
	})
}

// named generates texts with the ids of the blocks and the length of the tail.
type named struct{}

func (named) Text(ids []int64, tail int, _ string) string {
	var words []string
	for _, id := range ids {
		words = append(words, strconv.FormatInt(id, 10))
	}
	return strings.Join(append(words, "+"+strconv.Itoa(tail)), " ")
}

// wrong returns an error in the messages of a turn. Their tokens must be as recorded and their blocks must match the ids.
func (s *Session) wrong(turn int, messages []json.RawMessage) string {
	tokens, blocks := 0, []int64{}
	for _, raw := range messages {
		var m struct{ Content string }
		if err := json.Unmarshal(raw, &m); err != nil {
			return err.Error()
		}
		for _, word := range strings.Fields(m.Content) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return err.Error()
			}
			if word[0] == '+' {
				tokens += int(n)
				continue
			}
			tokens += s.Block
			blocks = append(blocks, n)
		}
	}
	want := s.Turns[turn]
	if tokens != want.Input {
		return fmt.Sprintf("%d tokens, want %d", tokens, want.Input)
	}
	if n := min(len(want.HashIDs), want.Input/s.Block); fmt.Sprint(blocks) != fmt.Sprint(want.HashIDs[:n]) {
		return fmt.Sprintf("blocks %v, want %v", blocks, want.HashIDs[:n])
	}
	return ""
}
