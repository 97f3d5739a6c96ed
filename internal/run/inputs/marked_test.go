package inputs

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/load"
)

// markedTrace has lengths alone, blocks of hash ids, and blocks with a rest behind them.
const markedTrace = `{"input_length":90}
{"input_length":75,"hash_ids":[1,2]}
{"input_length":90,"hash_ids":[1]}
{"input_length":66,"hash_ids":[1,3]}
`

// marked is a text as it is sent, and what was asked of its length.
type marked struct {
	Target string `json:"target"`
	Text   string `json:"text"`
	Asked  int    `json:"asked"`
	Tokens int    `json:"tokens"` // as tiktoken counts them (o200k_base)
}

// markedTexts are texts with markers of every target and of every kind of data that is made to a length.
func markedTexts(t *testing.T) (list []marked) {
	words, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*tokenizer.Tokenizer, error) { return words, nil }
	e, _, err := endpoint.Lookup("chat")
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(trace, []byte(markedTrace), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range config.CacheBustTargets[1:] {
		for _, kind := range []config.DatasetType{config.DatasetSynthetic, config.DatasetFile} {
			d := config.Dataset{Type: kind, Entries: 3, CacheBust: &config.CacheBust{Target: target}, TurnDelayRatio: 1}
			texts := []int{64, 64} // two contents a request
			if kind == config.DatasetFile {
				d.Path, d.Format, d.BlockSize, texts = trace, "mooncake_trace", 64, nil
			} else {
				d.Prompts = &config.Prompts{ISL: config.Normal(64, 0), BatchSize: 2}
			}
			if inSystemMessage(target) {
				d.PrefixPrompts = &config.PrefixPrompts{SharedSystemLength: 48}
			}
			b := &config.Benchmark{Datasets: []config.Dataset{d}}
			b.Models.Items = []config.Model{{Name: "m"}}
			seed := uint64(7)
			set, err := OpenDataset(context.Background(), "a/1", b, e, rng.New(&seed), open, nil)
			if err != nil {
				t.Fatal(target, kind, err)
			}
			bust, err := NewCacheBuster(&d, ReservesMarker(&d, set.Info()), "run", open)
			if err != nil {
				t.Fatal(err)
			}
			for i := range set.Len() {
				c := bust.MarkSession(&load.Session{Conversation: i, Shape: load.Shape{ID: set.ID(i)}}, WarmupOnly(target), set.Conversation(i))
				asked := texts
				if kind == config.DatasetFile {
					asked = []int{[]int{90, 75, 90, 66}[i]}
				}
				list = append(list, markedOf(target, c, asked)...)
			}
		}
	}
	return list
}

// markedOf lists the texts of a conversation, without the words that isolate a warm-up, which come on top of a length.
func markedOf(target string, c *conversation.Conversation, asked []int) (list []marked) {
	add := func(text string, n int) {
		list = append(list, marked{Target: target, Text: strings.TrimPrefix(text, "[warmup]\n\n"), Asked: n})
	}
	if c.System != "" {
		add(c.System, 48)
	}
	for k, text := range c.Turns[0].Contents() {
		add(text, asked[k])
	}
	return list
}

// TestMarkedLengths: texts with their markers are those that tiktoken has counted, and it found exactly the lengths that were asked for.
func TestMarkedLengths(t *testing.T) {
	got := markedTexts(t)
	text, err := os.ReadFile("testdata/marked.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []marked
	if err := json.Unmarshal(text, &recorded); err != nil || len(recorded) != len(got) {
		t.Fatalf("%v: %d texts, %d recorded", err, len(got), len(recorded))
	}
	for i, r := range recorded {
		if r.Text != got[i].Text || r.Tokens != got[i].Asked {
			t.Errorf("%s, text %d: %.60q… counts %d, want %d; recorded is %.60q…", r.Target, i, got[i].Text, r.Tokens, got[i].Asked, r.Text)
		}
	}
}
