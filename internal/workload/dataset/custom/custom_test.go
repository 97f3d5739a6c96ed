package custom

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/synth"
)

var corpus = sync.OnceValues(func() (*synth.Corpus, error) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		return nil, err
	}
	return synth.NewO200kCorpus(tok)
})

func base(format string) Options {
	seed := uint64(7)
	return Options{
		Root: rng.New(&seed), Type: format, Assignment: dataset.Assignment{Models: []string{"m"}}, DelayRatio: 1,
		HoistSystem: true, Corpus: func(string) (*synth.Corpus, error) { return corpus() },
	}
}

// write writes a file with the given content and returns its path.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, content string, o Options) dataset.Dataset {
	t.Helper()
	s, err := Open(write(t, content), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaults checks the errors of invalid files. Every error must contain all pieces, the path first.
func TestFaults(t *testing.T) {
	tests := []struct {
		name, format, content string
		want                  []string
	}{
		{"array row", "single_turn", `["a"]`, []string{":1: must be a JSON object, got array"}},
		{"string row", "single_turn", `"a"`, []string{":1: must be a JSON object, got string"}},
		{"type name", "nonsense", `{"text":"a"}`, []string{"type", "nonsense", "single_turn", "random_pool"}},
		{"round without a session", "tracelab", `{"text":"a"}`, []string{":1: session_id: missing", ":1: input_tokens_total: missing"}},
		{"no format", "", `{"foo":1}`, []string{":1:", "foo", "datasets.main.format"}},
		{"no format, no JSON", "", "hello\n", []string{":1:", "datasets.main.format"}},
		{"empty", "single_turn", "\n \n", []string{": no records"}},
		{"broken JSON", "multi_turn", "{\"turns\":[{\"text\":\"a\"}]}\n\n{\"turns\":\n", []string{":3: invalid JSON: "}},
		{"hash ids without length", "mooncake_trace", `{"text_input":"a","hash_ids":[1]}`, []string{":1: hash_ids: needs input_length"}},
		{"no prompt", "mooncake_trace", `{"output_length":3}`, []string{":1:", "input_length", "text_input", "messages", "payload", "output_length"}},
		{"other format", "mooncake_trace", `{"text":"a"}`, []string{":1:", "input_length", "text_input", "messages", "payload", "the row has text"}},
		{"length 0", "mooncake_trace", `{"input_length":0}`, []string{":1: input_length: must be at least 1, got 0"}},
		{"output 0", "mooncake_trace", `{"input_length":1,"output_length":-4}`, []string{":1: output_length: must be at least 1, got -4"}},
		{"blocks", "mooncake_trace", `{"input_length":512,"hash_ids":[1,2]}`, []string{":1: hash_ids: 2 ids of 512 tokens", "512", "0 tokens"}},
		{"mixed session", "mooncake_trace", "{\"session_id\":\"s\",\"text_input\":\"a\"}\n{\"session_id\":\"s\",\"messages\":[{\"role\":\"user\"}]}",
			[]string{":2: messages:", `"s"`, ":1"}},
		{"empty messages", "mooncake_trace", `{"messages":[]}`, []string{":1: messages: must not be empty"}},
		{"role missing", "mooncake_trace", `{"messages":[{"content":"x"}]}`, []string{":1: messages[0].role: missing"}},
		{"tools alone", "mooncake_trace", `{"text_input":"a","tools":[{}]}`, []string{":1: tools: needs messages"}},
		{"two prompts", "mooncake_trace", `{"text_input":"a","payload":{"a":1}}`, []string{":1: text_input, payload cannot be used together"}},
		{"no turns", "multi_turn", `{"session_id":"s"}`, []string{":1: turns: missing"}},
		{"empty turns", "multi_turn", `{"turns":[]}`, []string{":1: turns: at least one turn is needed"}},
		{"turn without text", "multi_turn", `{"turns":[{"text":"a"},{"role":"user"}]}`, []string{":1: turns[1]: at least one of text, texts"}},
		{"turn is a number", "multi_turn", `{"turns":[5]}`, []string{":1: turns[0]: must be a JSON object, got number"}},
		{"negative delay", "single_turn", `{"text":"a","delay":-4}`, []string{":1: delay: must not be negative, got -4"}},
		{"no modality", "single_turn", "{\"text\":\"a\"}\n{\"role\":\"user\"}", []string{":2: at least one of text, texts, image, images, audio, audios, video, videos is needed"}},
		{"empty text", "single_turn", `{"text":""}`, []string{":1: at least one of text"}},
		{"fraction", "single_turn", `{"text":"a","output_length":12.5}`, []string{":1: output_length: must be an integer, got 12.5"}},
		{"boolean", "single_turn", `{"text":"a","output_length":true}`, []string{":1: output_length: must be an integer, got true"}},
		{"text is a number", "single_turn", `{"text":5}`, []string{":1: text: must be a string, got a number"}},
		{"text and texts", "single_turn", `{"text":"b","texts":["a"]}`, []string{":1: text and texts cannot be set together"}},
		{"timestamp and delay", "single_turn", `{"text":"b","timestamp":1,"delay":2}`, []string{":1: timestamp and delay cannot be set together"}},
		{"image", "single_turn", "\n{\"image\":\"x.png\"}", []string{":2: image: file not found: x.png"}},
		{"mixed texts", "single_turn", `{"texts":["a",{"contents":["b"]}]}`, []string{":1: texts: must be all strings", "item 1"}},
		{"type of the row", "single_turn", `{"type":"multi_turn","text":"a"}`, []string{":1: type:", "single_turn", "multi_turn"}},
		{"latin1", "single_turn", "{\"text\":\"\xe9\"}", []string{":1: invalid JSON: not UTF-8"}},
		{"eleven", "single_turn", strings.Repeat("{}\n", 12), []string{":10: at least", "and 2 more"}},
		{"no sessions", "inputs_json", `{"data":[]}`, []string{": data: at least one session is needed"}},
		{"session twice", "inputs_json", `{"data":[{"session_id":"s","payloads":[{}]},{"session_id":"s","payloads":[{}]}]}`, []string{"data[1].session_id:", "twice"}},
		{"no payloads", "inputs_json", `{"data":[{"session_id":"s"}]}`, []string{"data[0].payloads:"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.content)
			_, err := Open(path, base(test.format))
			if err == nil {
				t.Fatal("no error")
			}
			want := test.want
			if strings.HasPrefix(want[0], ":") {
				want = append([]string{path + want[0]}, want[1:]...)
			}
			for _, piece := range want {
				if !strings.Contains(err.Error(), piece) {
					t.Errorf("the error has no %q:\n%v", piece, err)
				}
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	for _, format := range []string{"", "single_turn"} {
		_, err := Open(filepath.Join(t.TempDir(), "none.jsonl"), base(format))
		if err == nil || !strings.Contains(err.Error(), "none.jsonl") {
			t.Errorf("got %v", err)
		}
	}
}

func TestDirectory(t *testing.T) {
	for format, want := range map[string]string{"": "the folder holds no file", "multi_turn": "is a folder, but the format multi_turn is read from a single file"} {
		if _, err := Open(t.TempDir(), base(format)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// brief formats a conversation for comparison in tests.
func brief(c *conversation.Conversation) string {
	var b strings.Builder
	if c.System != "" {
		b.WriteString("<" + c.System + "> ")
	}
	for _, t := range c.Turns {
		if t.Role != "" {
			b.WriteString(t.Role + ":")
		}
		for k, p := range t.Parts {
			if k > 0 && t.Parts[k-1].Name == p.Name {
				b.WriteString("|" + p.Text)
			} else {
				b.WriteString(strings.Repeat("]", min(k, 1)) + p.Name + "[" + p.Text)
			}
		}
		b.WriteString(strings.Repeat("]", min(len(t.Parts), 1)))
		for _, m := range t.RawMessages {
			b.Write(m)
		}
		b.Write(t.RawTools)
		b.Write(t.RawPayload)
		if t.MaxTokens != nil {
			b.WriteString(" max=" + number(float64(*t.MaxTokens)))
		}
		if t.Timestamp != nil {
			b.WriteString(" at=" + number(*t.Timestamp))
		}
		if t.Delay != nil {
			b.WriteString(" after=" + number(*t.Delay))
		}
		if t.ExtraBody != nil {
			b.WriteString(" extra=" + string(t.ExtraBody))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func number(f float64) string {
	text, _ := json.Marshal(f)
	return string(text)
}

// TestConversations checks the conversations of valid files. An empty format is detected.
func TestConversations(t *testing.T) {
	tests := []struct {
		name, format, content string
		want                  []string // one string per conversation: "id mode: turns"
	}{
		{"texts", "", `{"texts":["one","two"]}
{"texts":[{"name":"n","contents":["a","","b"]},{"contents":["c"]}]}
{"text":"r","role":"system"}`,
			[]string{"session_000000 : [one|two]", "session_000001 : n[a||b][c]", "session_000002 : system:[r]"}},
		{"mark and string number", "single_turn", "\xef\xbb\xbf{\"text\":\"a\",\"output_length\":\"12\"}\r\n", []string{"session_000000 : [a] max=12"}},
		{"whole float", "single_turn", `{"text":"a","output_length":12.0,"extra":{"b": 1, "a": 2.0}}`, []string{`session_000000 : [a] max=12 extra={"b":1,"a":2.0}`}},
		{"sessions", "single_turn", `{"session_id":"s","text":"a"}
{"session_id":"t","text":"b"}
{"session_id":"s","text":"c","delay":50}`,
			[]string{"s message_array_with_responses: [a]; [c] after=50", "t : [b]"}},
		{"system turn", "", `{"turns":[{"role":"system","text":"Be brief."},{"text":"Hi"},{"role":"assistant","text":"pre"},{"text":"And?"}]}`,
			[]string{"session_000000 : <Be brief.> [Hi]; assistant:[pre]; [And?]"}},
		{"two system turns", "", `{"turns":[{"role":"system","text":"A"},{"role":"system","text":"B"},{"text":"Hi"}]}`,
			[]string{"session_000000 : system:[A]; system:[B]; [Hi]"}},
		{"system turn alone", "", `{"turns":[{"role":"system","text":"A"}]}`, []string{"session_000000 : system:[A]"}},
		{"system turn with length", "", `{"turns":[{"role":"system","text":"A","output_length":3},{"text":"Hi"}]}`,
			[]string{"session_000000 : system:[A] max=3; [Hi]"}},
		{"continued", "multi_turn", `{"session_id":"s","turns":[{"text":"a"}]}
{"turns":[{"text":"x"}]}
{"session_id":"s","turns":[{"text":"b","delay":800}]}`,
			[]string{"s : [a]; [b] after=800", "session_000000 : [x]"}},
		{"mooncake", "", `{"timestamp":0,"text_input":"Translate tea","output_length":16,"priority":3}
{"timestamp":10.5,"messages":[{"role":"system","content": "S"},{"role":"user","content":"ping"}],"output_length":8,"extra":{"temperature":0}}
{"timestamp":20,"messages":[{"role":"user","content":"2+2?"}],"tools":[{"type":"function"}],"output_length":12}
{"timestamp":30,"payload":{"model":"z", "prompt":"abc"}}`,
			[]string{
				"session_000000 : text[Translate tea] max=16 at=0",
				`session_000001 message_array_with_responses: {"role":"system","content":"S"}{"role":"user","content":"ping"} max=8 at=10.5 extra={"temperature":0}`,
				`session_000002 message_array_with_responses: {"role":"user","content":"2+2?"}[{"type":"function"}] max=12 at=20`,
				`session_000003 message_array_with_responses: {"model":"z","prompt":"abc"} at=30`,
			}},
		{"text with length", "mooncake_trace", `{"text_input":"x","input_length":5,"output_length":4}`, []string{"session_000000 : text[x] max=4"}},
		{"text with length and ids", "mooncake_trace", `{"text_input":"x","input_length":5,"hash_ids":[1],"output_length":4}`, []string{"session_000000 : text[x] max=4"}},
		{"mooncake sessions", "mooncake_trace", `{"session_id":"a","text_input":"one"}
{"session_id":"b","text_input":"x"}
{"session_id":"a","delay":20,"text_input":"two"}`,
			[]string{"a : text[one]; text[two] after=20", "b : text[x]"}},
		{"messages with length are mooncake", "", `{"messages":[{"role":"user","content":"a"}],"output_length":3}`,
			[]string{`session_000000 message_array_with_responses: {"role":"user","content":"a"} max=3`}},
		{"messages alone are a payload", "", `{"messages": [{"role":"user","content":"a"}]}`,
			[]string{`session_000000 message_array_with_responses: {"messages": [{"role":"user","content":"a"}]}`}},
		{"inputs over many lines", "", "{\n \"data\": [\n {\"session_id\":\"s\",\"payloads\":[{\"a\": 1},{\"b\":2}]}]}\n",
			[]string{`s message_array_with_responses: {"a":1}; {"b":2}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, test.content, base(test.format))
			if s.Len() != len(test.want) {
				t.Fatalf("%d conversations, want %d", s.Len(), len(test.want))
			}
			for i, want := range test.want {
				c := s.Conversation(i)
				if got := c.ID + " " + string(c.Mode) + ": " + brief(c); got != want {
					t.Errorf("conversation %d\n got %s\nwant %s", i, got, want)
				}
			}
		})
	}
}

// seeded returns a root with a seed.
func seeded(seed uint64) *rng.Root { return rng.New(&seed) }
