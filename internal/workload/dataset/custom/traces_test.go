package custom

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/trace"
)

// lines formats every conversation of a dataset.
func lines(s dataset.Dataset) []string {
	list := make([]string, dataset.All(s))
	for i := range list {
		c := s.Conversation(dataset.Nth(i, s.Len()))
		list[i] = c.ID + ": " + brief(c)
	}
	return list
}

// TestBailian checks that sessions follow the parents of rows. Each request carries its whole history and has exactly the stated length.
func TestBailian(t *testing.T) {
	const file = `{"chat_id":12,"parent_chat_id":11,"timestamp":9.5,"input_length":36,"output_length":20,"type":"text","turn":2,"hash_ids":[1,3,4]}
{"chat_id":7,"timestamp":0.1,"input_length":5,"output_length":0}
{"chat_id":11,"parent_chat_id":-1,"timestamp":0.25,"input_length":20,"output_length":30,"type":"text","turn":1,"hash_ids":[1,2]}
{"chat_id":13,"parent_chat_id":99,"timestamp":10,"input_length":5,"output_length":1}
{"chat_id":14,"parent_chat_id":12,"timestamp":11,"input_length":40,"output_length":1,"turn":3}
`
	s := open(t, file, base(""))
	var got []string
	for i := range s.Len() {
		c := s.Conversation(i)
		if c.Mode != conversation.MessageArrayWithResponses {
			t.Errorf("%s has mode %q", c.ID, c.Mode)
		}
		line := c.ID
		for k, turn := range c.Turns {
			line += fmt.Sprintf(" %d/%d@%g", count(t, text(t, c, k)), *turn.MaxTokens, *turn.Timestamp)
		}
		got = append(got, line)
	}
	if want := []string{"11 20/30@250 36/20@9500 40/1@11000", "7 5/1@100", "13 5/1@10000"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if first, second := text(t, s.Conversation(0), 0), text(t, s.Conversation(0), 1); second[:20] != first[:20] {
		t.Errorf("the block of id 1 differs: %q, %q", first, second)
	}
	if w := s.Info().Warnings; len(w) != 1 || !strings.Contains(w[0], ":2: output_length 0 is sent as 1; this affects 1 rows") {
		t.Errorf("warnings %q", w)
	}
}

func TestBailianRings(t *testing.T) {
	roots := func(chats []chat) []int64 {
		var g chatGrouper
		for _, c := range chats {
			g.chats.Add(c)
		}
		return g.roots()
	}
	if got := roots([]chat{{id: 1, parent: 2}, {id: 2, parent: 1}, {id: 3, parent: 3}, {id: 4, parent: 3}}); !slices.Equal(got, []int64{2, 1, 3, 3}) {
		t.Errorf("got %v", got)
	}
	long := make([]chat, 200_000) // a chain of parents must be walked only once
	for i := range long {
		long[i] = chat{id: int64(i), parent: int64(i) - 1}
	}
	if got := roots(long); got[len(got)-1] != 0 {
		t.Errorf("got %v", got[len(got)-1])
	}
}

func TestBurst(t *testing.T) {
	const file = "\xef\xbb\xbfTimestamp,Session ID,Request tokens,Response tokens,Log Type\n" +
		"0.01,a,12,5,x\n0.05,b,8,3,\"a,\n\"\"b\"\"\"\n0.06,c,bad,3,x\n1,d,0,3,x\n1,d,4,0,x\n2\n45.5,e,7,230,x\n"
	s := open(t, file, base(""))
	var got []string
	for i := range s.Len() {
		turn := s.Conversation(i).Turns[0]
		got = append(got, fmt.Sprintf("%d/%d@%g %s", count(t, text(t, s.Conversation(i), 0)), *turn.MaxTokens, *turn.Timestamp, turn.Origin[strings.LastIndex(turn.Origin, ":"):]))
	}
	if want := []string{"12/5@10 :2", "8/3@50 :3", "7/230@45500 :9"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if w := s.Info().Warnings; len(w) != 1 || !strings.Contains(w[0], ":5: ") || !strings.Contains(w[0], "in total: 4") {
		t.Errorf("warnings %q", w)
	}
	o := base("burst_gpt_trace")
	o.Limits = trace.Limits{End: ms(49), MaxISL: 12}
	if s := open(t, file, o); s.Len() != 1 || s.Info().OutsideWindow != 2 {
		t.Errorf("%d conversations, info %+v", s.Len(), s.Info())
	}
}

func TestSageMaker(t *testing.T) {
	const file = `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"max_tokens\":16,\"top_p\":1.0,\"model\":\"x\",\"stream\":true,\"temperature\":0.3}","encoding":"JSON"}},"eventMetadata":{"eventId":"e-1","inferenceTime":"2025-03-01T10:00:01.5Z"}}
{"captureData":{"endpointInput":{"data":"eyJtZXNzYWdlcyI6W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiZmlyc3QifV0sInRvb2xzIjpbMV19"},"endpointOutput":{"data":"no JSON","encoding":"CSV"}},"eventMetadata":{"inferenceTime":"2025-03-01T11:00:00+01:00"}}
`
	want := []string{
		`session_000000: {"role":"user","content":"first"}[1] at=0`,
		`session_000001: {"role":"user","content":"hi"} max=16 at=1500 extra={"top_p":1.0,"temperature":0.3}`,
	}
	if got := lines(open(t, file, base(""))); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	dir := t.TempDir()
	first, second, _ := strings.Cut(file, "\n")
	for name, content := range map[string]string{"a/2.jsonl": second, "b/1.jsonl": first, "a/notes.txt": "not read"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir, base(""))
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("folder: got %q\nwant %q", got, want)
	}
	o := base("")
	o.Limits = trace.Limits{Start: ms(1)}
	if s := open(t, file, o); s.Len() != 1 || s.Info().OutsideWindow != 1 {
		t.Errorf("%d conversations, info %+v", s.Len(), s.Info())
	}
}

// TestTraceFaults checks that errors name file, line and key.
func TestTraceFaults(t *testing.T) {
	event := func(input, time string) string {
		return `{"captureData":{"endpointInput":` + input + `},"eventMetadata":{"eventId":"e9","inferenceTime":` + time + `}}`
	}
	const noon = `"2025-03-01T12:00:00Z"`
	for _, c := range []struct{ format, content, want string }{
		{"bailian_trace", `{"chat_id":1,"timestamp":1,"input_length":1}`, ":1: output_length: missing"},
		{"bailian_trace", `{"chat_id":"a","timestamp":1,"input_length":0,"output_length":-1}`, `:1: chat_id: must be an integer of 64 bits, got "a"`},
		{"bailian_trace", `{"chat_id":1,"timestamp":1,"input_length":16,"output_length":1,"hash_ids":[1,2]}`, ":1: hash_ids: 2 ids of 16 tokens"},
		{"burst_gpt_trace", "A,B\n1,2\n", ":1: columns Timestamp, Request tokens, Response tokens are missing; the table has A, B"},
		{"burst_gpt_trace", "Timestamp,Request tokens,Response tokens\n1,2,\"3\"x\n", ":2: column"},
		{"burst_gpt_trace", "Timestamp,Request tokens,Response tokens\n1,2,\"" + strings.Repeat("x", 2<<20), "is a closing quote missing?"},
		{"burst_gpt_trace", "", ": no records"},
		{"bailian_trace", `{"chat_id":1,"timestamp":1,"input_length":10000001,"output_length":1}`, ":1: input_length: must be at most 10000000 tokens, got 10000001"},
		{"sagemaker_data_capture", event(`{"data":"{oops","encoding":"JSON"}`, noon), ":1: event e9: captureData.endpointInput.data: invalid JSON"},
		{"sagemaker_data_capture", event(`{"data":"a,b","encoding":"CSV"}`, noon), `captureData.endpointInput.encoding: must be JSON or BASE64`},
		{"sagemaker_data_capture", event(`{"data":"%%"}`, noon), "captureData.endpointInput.data: not base64"},
		{"sagemaker_data_capture", event(`{"data":"{}","encoding":"JSON"}`, noon), ":1: event e9: captureData.endpointInput.data.messages: missing"},
		{"sagemaker_data_capture", event(`{"data":"{}","encoding":"JSON"}`, `"noon"`), `eventMetadata.inferenceTime: must be an ISO 8601 time`},
		{"sagemaker_data_capture", event(`{"data":"{}","encoding":"JSON"}`, `null`), `eventMetadata.inferenceTime: missing`},
		{"sagemaker_data_capture", `{"captureData":{},"eventMetadata":{"eventId":"e9","inferenceTime":` + noon + `}}`, ":1: event e9: captureData.endpointInput: missing"},
		{"inputs_json", "{\"data\":[\n{\"session_id\":\"s\",\"payloads\":[{}]},\n{\"session_id\":", "in.jsonl:3: data[1]: invalid JSON: unexpected EOF"},
		{"inputs_json", `{"data":[{"session_id":"s","payloads":[{}]}]}{}`, "must be one JSON object, but an object follows it in line 1"},
		{"inputs_json", `{"data":{}}`, "data: must be a list, got an object"},
		{"inputs_json", `{"x":1}`, "data: missing"},
		{"inputs_json", `[]`, "must be a JSON object, got an array"},
		{"single_turn", "\xff\xfe{\x00}\x00", ":1: the file is UTF-16"},
	} {
		path := write(t, c.content)
		if _, err := Open(path, base(c.format)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s %.80q: got %v, want %q", c.format, c.content, err, c.want)
		}
	}
}

// TestMessageDelta checks that the messages of a row are only the new ones, and that answers stay in the history. context_mode sets this for a
// session.
func TestMessageDelta(t *testing.T) {
	row := func(session, rest string) string {
		return `{"session_id":"` + session + `","messages":[{"role":"user","content":"a"}]` + rest + "}\n"
	}
	s := open(t, row("d", `,"message_mode":"delta"`)+row("d", `,"message_mode":"delta"`)+row("h", "")+row("c", `,"context_mode":"deltas_with_responses"`), base("mooncake_trace"))
	for i, want := range []conversation.Mode{conversation.DeltasWithoutResponses, conversation.MessageArrayWithResponses, conversation.DeltasWithResponses} {
		if c := s.Conversation(i); c.Mode != want {
			t.Errorf("%s: %s, want %s", c.ID, c.Mode, want)
		}
	}
	window := base("mooncake_trace")
	end := 5.0
	window.Limits.End = &end
	for content, want := range map[string]string{
		row("d", `,"message_mode":"delta"`) + row("d", ""):                               `:2: messages: session "d" uses message_mode delta in`,
		row("d", `,"message_mode":"whole"`):                                              ":1: message_mode: must be history or delta",
		`{"text_input":"a","message_mode":"delta"}`:                                      ":1: message_mode: delta needs messages",
		row("d", `,"message_mode":"delta","extra":{"messages":[]}`):                      ":1: extra.messages: cannot be used with message_mode delta",
		row("c", `,"context_mode":"x"`):                                                  ":1: context_mode: must be one of",
		row("c", `,"context_mode":"deltas_with_responses"`) + row("c", ""):               `:2: context_mode: session "c" has "deltas_with_responses"`,
		row("d", `,"message_mode":"delta","timestamp":1`) + row("d", `,"timestamp":"x"`): ":2: timestamp",
	} {
		if _, err := Open(write(t, content), base("mooncake_trace")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
	if _, err := Open(write(t, row("d", `,"message_mode":"delta","timestamp":1`)), window); err == nil || !strings.Contains(err.Error(), "a time window would cut off the history") {
		t.Error(err)
	}
}
