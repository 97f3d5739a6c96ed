package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/parquet"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/custom"
)

// completion is a row of baseten_trace (contract: datasets.md, section 5.10). A value that is missing is nil.
type completion struct {
	at       int64
	prompt   string
	in, out  int64
	duration any // int64
	session  any // string
	hashes   []int64
	block    any // int64
}

// completionColumns are the columns of a row, in the order of its fields.
var completionColumns = []parquet.Column{
	{Name: "timestamp_start_unix_ms"},
	{Name: "prompt", Kind: parquet.Text},
	{Name: "input_tokens"},
	{Name: "output_tokens"},
	{Name: "duration_e2e_ms", Optional: true},
	{Name: "provided_session_id", Kind: parquet.Text, Optional: true},
	{Name: "total_hashes", List: true},
	{Name: "block_size", Optional: true},
}

// completions writes calls with one text each as a Parquet table. It writes a row group when its texts reach minGroupBytes, which limits the memory.
type completions struct {
	count      func(string) int // counts the tokens of a prompt whose row does not state them
	table      *parquet.Writer
	out        bytes.Buffer // output not yet returned
	groupBytes int          // bytes of text since the last row group
	rows       int
	least      int // rows that ask for their length as the minimum
}

// minGroupBytes is the minimum size of the texts in a row group, in bytes.
const minGroupBytes = 4 << 20

func newCompletions(format string, count func(string) int) *Target {
	c := &completions{count: count}
	c.table = parquet.NewWriter(&c.out, completionColumns, nil)
	t := &Target{row: c.append, history: &history{format: format, mode: conversation.MessageArrayWithResponses}}
	t.end = func() ([]byte, error) {
		t.Free = c.rows > 0 && c.least == 0
		return c.end()
	}
	return t
}

// append writes the rows of an entry to the table and appends the output so far to dst.
func (c *completions) append(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		row, err := c.completion(&turns[i], e)
		if err != nil {
			return nil, err
		}
		if err := c.table.Append(row.at, row.prompt, row.in, row.out, row.duration, row.session, row.hashes, row.block); err != nil {
			return nil, err
		}
		if c.groupBytes += len(row.prompt) + 8*len(row.hashes) + 64; c.groupBytes >= minGroupBytes {
			c.groupBytes = 0
			if err := c.table.Flush(); err != nil {
				return nil, err
			}
		}
	}
	return c.drain(dst), nil
}

func (c *completions) drain(dst []byte) []byte {
	dst = append(dst, c.out.Bytes()...)
	c.out.Reset()
	return dst
}

// end closes the table.
func (c *completions) end() ([]byte, error) {
	err := c.table.Close()
	return c.drain(nil), err
}

// completion returns a turn as a row.
func (c *completions) completion(t *conversation.Turn, e custom.Entry) (row completion, err error) {
	if err := oneText(t); err != nil {
		return row, err
	}
	switch {
	case t.Timestamp == nil:
		return row, errors.New("timestamp: missing; every row of baseten_trace needs the time at which it was sent")
	case *t.Timestamp < 0 || *t.Timestamp != math.Trunc(*t.Timestamp) || *t.Timestamp >= 1<<53:
		return row, fmt.Errorf("timestamp: %v: baseten_trace allows only whole milliseconds, at least 0", *t.Timestamp)
	case t.Delay != nil:
		return row, errors.New("delay: baseten_trace has no delays, only timestamps")
	case t.MaxTokens == nil:
		return row, errors.New("output_length: missing; every row of baseten_trace needs the length of its answer")
	}
	row = completion{at: int64(*t.Timestamp), prompt: t.Contents()[0], in: int64(e.Tokens), out: int64(*t.MaxTokens)}
	if e.Session != "" {
		row.session = e.Session
	}
	if e.Took > 0 {
		row.duration = int64(e.Took)
	}
	switch {
	case e.Tokens > 0:
	case e.Record != nil && e.Record.InputLength > 0:
		row.in = int64(e.Record.InputLength)
	default:
		row.in = int64(c.count(row.prompt))
	}
	return row, c.extra(t.ExtraBody, &row)
}

// oneText returns an error if a turn is not a single user text.
func oneText(t *conversation.Turn) error {
	if t.RawMessages != nil || t.RawPayload != nil || t.Silent || len(t.Branches) > 0 || t.TokenIDs != nil || t.ExtraHeaders != nil || t.Model != "" {
		return errors.New("prompt: a row of baseten_trace can hold one text only, no messages, body, model or headers")
	}
	if len(t.Parts) != 1 || len(t.Contents()) != 1 || t.Role != "" && t.Role != "user" {
		return errors.New("prompt: a row of baseten_trace can hold one text of the user only, no media, list or other role")
	}
	return nil
}

// extra moves the body members that the format supports to the row. Either all rows ask for their length as the minimum, or none.
func (c *completions) extra(body json.RawMessage, row *completion) error {
	var has struct {
		Least  *int64  `json:"min_tokens"`
		Hashes []int64 `json:"hash_ids"`
		Block  *int64  `json:"block_size"`
	}
	if body != nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&has); err != nil {
			return fmt.Errorf("extra: baseten_trace allows only min_tokens, hash_ids and block_size, all whole numbers: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	if has.Least != nil {
		if *has.Least != row.out {
			return fmt.Errorf("extra.min_tokens: %d, but the answer has %d tokens; in baseten_trace both must be equal", *has.Least, row.out)
		}
		c.least++
	}
	if c.rows++; c.least > 0 && c.least < c.rows {
		return errors.New("extra.min_tokens: in baseten_trace either all rows have it or none")
	}
	row.hashes = has.Hashes
	if has.Block != nil {
		row.block = *has.Block
	}
	return nil
}
