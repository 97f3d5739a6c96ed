package inputs

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// counted is a dataset that counts how often its conversations are made.
type counted struct {
	dataset.Dataset
	made int
}

func (c *counted) Conversation(i int) *conversation.Conversation {
	c.made++
	return &conversation.Conversation{ID: string(rune('a' + i))}
}

func TestPreparedConversationsAreMadeOnceUpToTheLimit(t *testing.T) {
	data := &counted{}
	p := &PreparedStore{data: data}
	big := &endpoint.Request{Body: record.Plain([]byte(strings.Repeat("x", (preparedLimit/2-entryOverhead)/2)))}
	for range 3 {
		for i := range 4 {
			s := p.Get(i)
			if s.Conversation.ID != string(rune('a'+i)) {
				t.Fatalf("conversation %d is %s", i, s.Conversation.ID)
			}
			if s.First == nil {
				p.Keep(i, s.Conversation, big)
			} else if i >= 2 {
				t.Errorf("conversation %d is held beyond the limit", i)
			}
		}
	}
	if want := 4 + 2 + 2; data.made != want {
		t.Errorf("%d conversations were made, want %d: two of four fit", data.made, want)
	}
}
