package custom

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// endOfText is the block separator of the built-in tokenizer.
var endOfText = int32(199999)

func text(t *testing.T, c *conversation.Conversation, turn int) string {
	t.Helper()
	if len(c.Turns[turn].Parts) != 1 {
		t.Fatalf("turn %d has the parts %+v", turn, c.Turns[turn].Parts)
	}
	return c.Turns[turn].Parts[0].Text
}

func count(t *testing.T, s string) int {
	t.Helper()
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return tok.Count(s)
}

// TestPromptsFromLengths compares prompts for hash ids and lengths with those of the Python tool for the same file and seed.
func TestPromptsFromLengths(t *testing.T) {
	const file = `{"timestamp": 0, "input_length": 20, "output_length": 4, "hash_ids": [1, 2]}
{"timestamp": 5, "input_length": 20, "output_length": 4, "hash_ids": [1, 3]}
{"timestamp": 9, "input_length": 6}
`
	want := []string{
		"<|endoftext|> silk drink wine lie soft Hug their diseased perfumes and have forgot That ever<|endoftext|>LOUCESTER",
		"<|endoftext|> silk drink wine lie soft Hug their diseased perfumes and have forgot That ever<|endoftext|> plucking up",
		" would ill become me to be",
	}
	o := base("mooncake_trace")
	o.BlockSize, o.Separator = 16, func() *int32 { return &endOfText }
	s := open(t, file, o)
	for _, i := range []int{2, 0, 1} {
		if got := text(t, s.Conversation(i), 0); got != want[i] {
			t.Errorf("conversation %d\n got %q\nwant %q", i, got, want[i])
		}
	}
}

func TestBlocksBeforeARest(t *testing.T) {
	o := base("mooncake_trace")
	o.BlockSize = 16
	s := open(t, `{"input_length":40,"hash_ids":[5]}
{"input_length":20,"hash_ids":[5,6]}
{"input_length":10}
`, o)
	long, short := text(t, s.Conversation(0), 0), text(t, s.Conversation(1), 0)
	block := long[:40]
	if !strings.HasPrefix(short, block) {
		t.Errorf("the block of id 5 differs: %q, %q", long, short)
	}
	if n := count(t, text(t, s.Conversation(2), 0)); n != 10 {
		t.Errorf("%d tokens, want 10", n)
	}
}

// TestBlockSizes checks that an id starts with the same tokens whether its block is whole or partial.
func TestBlockSizes(t *testing.T) {
	o := base("mooncake_trace")
	o.BlockSize = 16
	s := open(t, "{\"input_length\":16,\"hash_ids\":[5]}\n{\"input_length\":7,\"hash_ids\":[5]}\n", o)
	whole, part := text(t, s.Conversation(0), 0), text(t, s.Conversation(1), 0)
	if !strings.HasPrefix(whole, part) || part == "" {
		t.Errorf("%q is not the beginning of %q", part, whole)
	}
}

func TestNoTokenizer(t *testing.T) {
	o := base("mooncake_trace")
	o.Corpus = nil
	if _, err := Open(write(t, `{"input_length":5}`), o); err == nil || !strings.Contains(err.Error(), "tokenizer.name") {
		t.Errorf("got %v", err)
	}
	open(t, `{"text_input":"a"}`, o) // this file needs no corpus
}

func TestModelsAndLengths(t *testing.T) {
	o := base("")
	o.Assignment = dataset.Assignment{Models: []string{"ma", "mb"}, OSL: &dataset.Distribution{Mean: 12}}
	s := open(t, `{"turns":[{"text":"a"},{"text":"b","output_length":3},{"text":"c"}]}
{"turns":[{"text":"d"}]}
`, o)
	var models []string
	var lengths []int
	for i := range s.Len() {
		for _, turn := range s.Conversation(i).Turns {
			models = append(models, turn.Model)
			lengths = append(lengths, *turn.MaxTokens)
		}
	}
	if !slices.Equal(models, []string{"ma", "mb", "ma", "mb"}) || !slices.Equal(lengths, []int{12, 3, 12, 12}) {
		t.Errorf("got %v, %v", models, lengths)
	}
	o.Type = "raw_payload"
	if body := open(t, `{"a":1}`, o).Conversation(0).Turns[0]; body.MaxTokens != nil {
		t.Error("a body that is sent unchanged got an output length")
	}
}

func TestContexts(t *testing.T) {
	o := base("multi_turn")
	o.Context = synth.Context{SharedSystem: 8, User: 6}
	s := open(t, `{"turns":[{"role":"system","text":"Own."},{"text":"Hi"}]}
{"turns":[{"text":"Ho"}]}
`, o)
	a, b := s.Conversation(0), s.Conversation(1)
	if count(t, b.System) != 8 || a.System != b.System+"\n\nOwn." {
		t.Errorf("system messages %q and %q", a.System, b.System)
	}
	if count(t, a.UserContext) != 6 || count(t, b.UserContext) != 6 || a.UserContext == b.UserContext {
		t.Errorf("contexts %q and %q", a.UserContext, b.UserContext)
	}
	o.Context = synth.Context{System: "Outer."}
	if c := open(t, `{"turns":[{"role":"system","text":"Own."},{"text":"Hi"}]}`, o).Conversation(0); c.System != "Outer.\n\nOwn." {
		t.Errorf("system message %q", c.System)
	}
	o.Context = synth.Context{PrefixLength: 4, PrefixPool: 2}
	if _, err := Open(write(t, `{"turns":[{"text":"Hi"}]}`), o); err == nil || !strings.Contains(err.Error(), "prefix_prompts.length") {
		t.Errorf("got %v", err)
	}
}

func ms(f float64) *float64 { return &f }

func TestWindow(t *testing.T) {
	const file = `{"timestamp":0,"text_input":"t0"}
{"timestamp":20,"text_input":"t1"}
{"timestamp":60,"text_input":"t2"}
{"timestamp":60.5,"text_input":"t3"}
{"text_input":"t4"}
`
	o := base("mooncake_trace")
	o.Limits = trace.Limits{Start: ms(20), End: ms(60)}
	s := open(t, file, o)
	var got []string
	for i := range s.Len() {
		got = append(got, text(t, s.Conversation(i), 0))
	}
	if !slices.Equal(got, []string{"t1", "t2", "t4"}) || s.Info().OutsideWindow != 2 {
		t.Errorf("got %v, %d outside", got, s.Info().OutsideWindow)
	}
	if f := s.Info(); !f.Timestamps || !f.FirstHasTime || !f.Trace || !f.Stated || f.Turns != 3 || !strings.HasSuffix(f.UntimedOrigin, ":5") {
		t.Errorf("info %+v", f)
	}
	o.Limits = trace.Limits{Start: ms(100)}
	_, err := Open(write(t, strings.TrimSuffix(file, "{\"text_input\":\"t4\"}\n")), o)
	if err == nil || !strings.Contains(err.Error(), "4 are outside") || !strings.Contains(err.Error(), "100 ms") {
		t.Errorf("got %v", err)
	}
}

func TestLimits(t *testing.T) {
	o := base("mooncake_trace")
	o.Limits = trace.Limits{MaxISL: 10, MaxOSL: 5}
	s := open(t, "{\"input_length\":10,\"output_length\":9}\n{\"input_length\":11}\n", o)
	if s.Len() != 1 || *s.Conversation(0).Turns[0].MaxTokens != 5 || s.Info().TooLong != 1 || s.Info().Capped != 1 {
		t.Errorf("%d conversations, info %+v", s.Len(), s.Info())
	}
}

func TestDelays(t *testing.T) {
	o := base("multi_turn")
	o.DelayRatio, o.DelayCap = 0.5, ms(1000)
	s := open(t, `{"turns":[{"text":"a"},{"text":"b","delay":600},{"text":"c","delay":4000}]}`, o)
	got := s.Timings(0)
	if got[0].Delay != nil || *got[1].Delay != 300 || *got[2].Delay != 500 {
		t.Errorf("got %v", got)
	}
	if !s.Info().Delays {
		t.Error("the info know no delay")
	}
}

func TestUnknownKeys(t *testing.T) {
	s := open(t, "{\"text\":\"a\"}\n{\"text\":\"b\",\"txt\":\"c\"}\n{\"text\":\"b\",\"txt\":\"c\"}\n", base("single_turn"))
	warnings := s.Info().Warnings
	if len(warnings) != 1 || !strings.Contains(warnings[0], ":2: unknown key txt") {
		t.Errorf("got %q", warnings)
	}
	generated := `{"session_id":"s","input_length":512,"output_length":8,"hash_ids":[1],"timestamp":0.0,"group_id":2,"is_restart":true}`
	if warnings = open(t, generated, base("mooncake_trace")).Info().Warnings; len(warnings) != 0 {
		t.Errorf("a row of our own generator: %q", warnings)
	}
	warnings = open(t, `{"turns":[{"text":"a"},{"text":"b","txt":"c"}]}`, base("")).Info().Warnings
	if len(warnings) != 1 || !strings.Contains(warnings[0], ":1: unknown key txt") {
		t.Errorf("got %q", warnings)
	}
}

// TestConversationIsOwn checks that changes to a returned conversation do not affect the next one.
func TestConversationIsOwn(t *testing.T) {
	s := open(t, `{"text":"a"}`, base("single_turn"))
	s.Conversation(0).Turns[0].Role = "changed"
	if s.Conversation(0).Turns[0].Role != "" {
		t.Error("the set was changed")
	}
}
