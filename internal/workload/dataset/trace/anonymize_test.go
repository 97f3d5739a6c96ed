package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAnonymize uses letters as tokens and blocks of three. The rows of a session continue each other, including answers.
func TestAnonymize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chats.jsonl")
	text := `{"messages":[{"role":"user","content":"abcdefg"}],"output":"xyz","timestamp":5,"session_id":"s"}
{"messages":[{"role":"user","content":"hi"}],"output":"","session_id":"s"}
{"messages":[{"role":"user","content":"abcxyz"}],"output":"x"}
{"messages":[],"output":"x"}
{"output":"x"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &Anonymizer{
		Hasher: Hasher{Block: 3},
		Encode: func(messages []byte) (tokens []int32, _ error) {
			for _, part := range strings.Split(string(messages), `"content":"`)[1:] {
				for _, c := range part[:strings.IndexByte(part, '"')] {
					tokens = append(tokens, c)
				}
			}
			return tokens, nil
		},
		Count: func(answer string) int { return len(answer) },
	}
	var got []*Record
	left, why, err := a.Anonymize(path, func(r *Record) error { got = append(got, r); return nil })
	if err != nil || left != 2 || why == nil || !strings.Contains(why.Error(), ":4: messages: must not be empty") {
		t.Errorf("%d left out, %v, %v", left, why, err)
	}
	for i, want := range []struct {
		input, output int
		ids           []int64
	}{
		{7, 3, []int64{0, 1, 2}},     // abc def g
		{12, 1, []int64{0, 1, 3, 4}}, // abc def gxy zhi; an answer has at least a token
		{6, 1, []int64{0, 5}},        // abc xyz
	} {
		if r := got[i]; r.InputLength != want.input || *r.OutputLength != want.output || !slices.Equal(r.HashIDs, want.ids) {
			t.Errorf("row %d: %d, %d, %v, want %+v", i, r.InputLength, *r.OutputLength, r.HashIDs, want)
		}
	}
	if len(got) != 3 || *got[0].Timestamp != 5 || got[1].Session != "s" {
		t.Errorf("%d rows", len(got))
	}
}
