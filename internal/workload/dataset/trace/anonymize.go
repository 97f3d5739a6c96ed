package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// Hasher assigns ids to blocks of tokens. A block after the same blocks gets the same id. Ids count from 0 in the order of first appearance. They show
// which prefixes rows share, but nothing of their content.
type Hasher struct {
	Block int // tokens per block
	ids   map[[sha256.Size]byte]int64
}

// IDs returns the ids of the blocks in a prompt. The last block may be short.
func (h *Hasher) IDs(tokens []int32) []int64 {
	if h.ids == nil {
		h.ids = map[[sha256.Size]byte]int64{}
	}
	list := make([]int64, 0, (len(tokens)+h.Block-1)/h.Block)
	parent := int64(-1)
	for len(tokens) > 0 {
		n := min(h.Block, len(tokens))
		text := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+4*n), uint64(parent))
		for _, t := range tokens[:n] {
			text = binary.LittleEndian.AppendUint32(text, uint32(t))
		}
		key := sha256.Sum256(text)
		id, known := h.ids[key]
		if !known {
			id = int64(len(h.ids))
			h.ids[key] = id
		}
		list = append(list, id)
		parent, tokens = id, tokens[n:]
	}
	return list
}

// Anonymizer converts conversations to rows of lengths and ids. Encode returns the tokens of messages after applying the chat template of a model.
// Count returns the number of tokens in an answer.
type Anonymizer struct {
	Hasher
	Encode func(messages []byte) ([]int32, error)
	Count  func(answer string) int

	histories map[string][]json.RawMessage // messages and answers so far, by session
}

// Row converts a row of {messages, output, timestamp?, session_id?}. A row with a session id continues the earlier rows of that session.
func (a *Anonymizer) Row(r *rows.Row) (*Record, error) {
	messages, output := Messages(r), r.String("output")
	if !r.Has("messages") {
		r.Fault("messages", "missing")
	}
	if output == nil && !r.Has("output") {
		r.Fault("output", "missing")
	}
	if len(messages) == 0 || output == nil {
		return nil, errors.New("no row")
	}
	rec := &Record{Where: r.Where, Timestamp: r.Number("timestamp")}
	if id := r.String("session_id"); id != nil {
		rec.Session = *id
		messages = append(a.histories[rec.Session], messages...)
	}
	list := []byte{'['}
	for i, m := range messages {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, m...)
	}
	tokens, err := a.Encode(append(list, ']'))
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, errors.New("the messages have no tokens")
	}
	n := max(1, a.Count(*output))
	rec.InputLength, rec.OutputLength, rec.HashIDs = len(tokens), &n, a.IDs(tokens)
	if rec.Session != "" {
		if a.histories == nil {
			a.histories = map[string][]json.RawMessage{}
		}
		answer := jsontext.Open(nil)
		answer.Text("role", "assistant")
		answer.Text("content", *output)
		a.histories[rec.Session] = append(messages[:len(messages):len(messages)], answer.Close())
	}
	return rec, nil
}

// Anonymize reads a file and calls f for every converted row. left is the number of skipped rows; skipped is the reason of the first one.
func (a *Anonymizer) Anonymize(path string, f func(*Record) error) (left int, skipped, err error) {
	var failed error
	err = rows.Read(path, func(l rows.Line) bool {
		var wrong dataset.Faults
		var rec *Record
		var why error
		if r := rows.Parse(l.Where(), l.Text, &wrong); r != nil {
			rec, why = a.Row(r)
		}
		if wrong.Count() > 0 {
			why = wrong.Err()
		} else if why != nil {
			why = fmt.Errorf("%s: %w", l.Where(), why)
		}
		if why != nil {
			if left++; skipped == nil {
				skipped = why
			}
			return true
		}
		failed = f(rec)
		return failed == nil
	})
	return left, skipped, errors.Join(err, failed)
}
