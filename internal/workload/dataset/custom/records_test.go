package custom

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/conversation"
)

func raws(items ...string) (list []json.RawMessage) {
	for _, s := range items {
		list = append(list, json.RawMessage(s))
	}
	return list
}

// TestInlineRecords checks that rows of a configuration are read like rows of a file, and that errors name the item.
func TestInlineRecords(t *testing.T) {
	o := base("single_turn")
	o.Records = []Pool{{Rows: raws(`{"text":"a"}`, `{"text":"b"}`)}}
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(s); !slices.Equal(got, []string{"session_000000: [a]", "session_000001: [b]"}) {
		t.Errorf("%q", got)
	}
	look, err := SampleRecords(o.Records, "", nil)
	if err != nil || look.Records != 2 || look.Format.Name != "single_turn" {
		t.Errorf("%+v %v", look, err)
	}
	for _, c := range []struct {
		format string
		pools  []Pool
		want   string
	}{
		{"single_turn", []Pool{{Rows: raws(`{"text":"a"}`, `{"texts":5}`)}}, "records[1].texts: must be a list"},
		{"random_pool", []Pool{{Name: "q", Rows: raws(`[1]`)}}, "records.q[0]: must be a JSON object, got array"},
		{"random_pool", []Pool{{Name: "q", Rows: raws(`{"text":"a"}`)}, {Name: "p"}}, "records.p: no records"},
		{"multi_turn", []Pool{{Name: "q", Rows: raws(`{"turns":[{"text":"a"}]}`)}}, "named lists need type random_pool"},
		{"inputs_json", []Pool{{Rows: raws(`{}`)}}, "cannot be written in a configuration file"},
		{"burst_gpt_trace", []Pool{{Rows: raws(`{}`)}}, "cannot be written in a configuration file"},
		{"raw_payload", []Pool{{}}, "no records"},
	} {
		o := base(c.format)
		o.Records = c.pools
		if _, err := Open("", o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.format, err, c.want)
		}
	}
	o = base("random_pool")
	o.Root, o.Entries = seven(), 2
	o.Records = []Pool{{Name: "query", Rows: raws(`{"text":"a"}`)}, {Name: "passages", Rows: raws(`{"text":"b"}`)}}
	if s, err = Open("", o); err != nil || lines(s)[0] != "session_000000: query[a]passages[b]" {
		t.Errorf("%v %v", s, err)
	}
}

// TestInlineBlocks compares the texts for hash ids of rows in a configuration with those of the Python tool 0.13.0.
func TestInlineBlocks(t *testing.T) {
	seed, end := uint64(3), int32(199999)
	o := base("bailian_trace")
	o.Root, o.Separator = rng.New(&seed), func() *int32 { return &end }
	o.Records = []Pool{{Rows: raws(`{"chat_id":1,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}`)}}
	s, err := Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	want := "<|endoftext|> Nay get thee in Ill pray and then Ill sleep Fool goes in Poor naked<|endoftext|> what once it"
	if got := s.Conversation(0).Turns[0].Contents(); !slices.Equal(got, []string{want}) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInlineFormats checks that formats without rows are rejected with a message about the configuration, not about a file.
func TestInlineFormats(t *testing.T) {
	for _, format := range []string{"inputs_json", "burst_gpt_trace", "baseten_trace", "weka_trace", "tracelab"} {
		look, err := SampleRecords([]Pool{{Rows: raws(`{"a":1}`)}}, format, nil)
		if look != nil || err == nil || !strings.Contains(err.Error(), "records: the type "+format+" cannot be written in a configuration file") {
			t.Errorf("%s: %v, %v", format, look, err)
		}
	}
}

// TestBatches checks contents drawn by kind, in the draw order of the Python tool: images, texts, audio, video.
func TestBatches(t *testing.T) {
	rows := "{\"text\":\"a\",\"image\":\"https://h/1.png\"}\n{\"texts\":[\"b\",\"c\"],\"image\":\"https://h/2.png\"}\n"
	o := base("random_pool")
	o.Root, o.Entries = seven(), 2
	o.Batches = map[conversation.Kind]int{conversation.Text: 2, conversation.Image: 1}
	s := open(t, rows, o)
	stream := seven().Stream("dataset.loader.random_pool")
	for i := range 2 {
		image := []string{"https://h/1.png", "https://h/2.png"}[stream.Index(2)]
		texts := []string{[]string{"a", "b", "c"}[stream.Index(3)], []string{"a", "b", "c"}[stream.Index(3)]}
		turn := &s.Conversation(i).Turns[0]
		if !slices.Equal(turn.Contents(), texts) || len(turn.Parts) != 3 || turn.Parts[2].Blob.Address() != image || turn.Parts[0].Name != "" {
			t.Errorf("turn %d: %q", i, turn.Contents())
		}
	}
	o.Batches = map[conversation.Kind]int{conversation.Image: 0}
	if got := open(t, rows, o).Conversation(0).Turns[0].Parts; len(got) != 1 || got[0].Kind != conversation.Text {
		t.Errorf("%+v", got)
	}
	o.Batches = map[conversation.Kind]int{conversation.Audio: 5}
	if got := open(t, rows, o).Conversation(0).Turns[0].Parts; len(got) < 2 || got[0].Name != "in" {
		t.Errorf("a kind that the pool lacks makes batches: %+v", got)
	}
	for text, want := range map[string]string{
		rows: "nothing to send with these batch sizes: datasets.main.images.batch_size 0",
		`{"texts":[{"name":"n","contents":["a"]}]}`:                     "would lose names",
		`{"images":["https://h/1.png"],"image_uuids":["u"],"text":"a"}`: "would lose names",
	} {
		o.Batches = map[conversation.Kind]int{conversation.Text: 0, conversation.Image: 0}
		if err := refusal(t, text, o); !strings.Contains(err, want) {
			t.Errorf("%s: %s", text, err)
		}
	}
	o.Batches = map[conversation.Kind]int{conversation.Text: 2}
	dir := writeFolder(t, map[string]string{"a.jsonl": `{"text":"a"}`, "b.jsonl": `{"text":"b"}`})
	if _, err := Open(dir, o); err == nil || !strings.Contains(err.Error(), "the folder has 2") {
		t.Error(err)
	}
}

// TestSpeedBench checks that every message is a turn, including system messages, and that the type name selects the category.
func TestSpeedBench(t *testing.T) {
	id := strings.Repeat("a", 31)
	rows := `{"question_id":"` + id + `1","category":"coding","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}` + "\n" +
		`{"question_id":"` + id + `2","category":"math","messages":[{"role":"user","content":"m"}]}` + "\n"
	for name, want := range map[string][]string{
		"speed_bench_qualitative":   {id + "1: system:[s]; user:[u]", id + "2: user:[m]"},
		"":                          {id + "1: system:[s]; user:[u]", id + "2: user:[m]"},
		"speed_bench_math":          {id + "2: user:[m]"},
		"speed_bench_throughput_1k": {id + "1: system:[s]; user:[u]", id + "2: user:[m]"},
	} {
		o := base(name)
		o.HoistSystem = true
		s := open(t, rows, o)
		if got := lines(s); !slices.Equal(got, want) || s.Conversation(0).System != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := open(t, rows, base("")).Conversation(0).Turns[0].Role; got != "system" {
		t.Errorf("role %q", got)
	}
	message := func(m string) string { return `{"question_id":"` + id + `1","category":"coding","messages":` + m + `}` }
	for text, want := range map[string]string{
		message(`[]`):                           "messages: must not be empty",
		message(`[{"role":"user"}]`):            "messages[0].content: missing",
		message(`[{"role":" ","content":"c"}]`): "messages[0].role: must not be blank",
		message(`[{"role":"user","content":"` + SpeedBenchStub + `"}]`):              "is a placeholder",
		`{"question_id":"x","category":"c","messages":[{"role":"u","content":"c"}]}`: "must have 32 characters, got 1",
		`{"category":"","messages":5}`:                                               "question_id: missing",
	} {
		if err := refusal(t, text, base("speed_bench_qualitative")); !strings.Contains(err, ":1: ") || !strings.Contains(err, want) {
			t.Errorf("%s: %s, want %s", text, err, want)
		}
	}
	if err := refusal(t, rows, base("speed_bench_throughput_1k_low_entropy")); !strings.Contains(err, "no row has the category low_entropy; the file has coding, math") {
		t.Error(err)
	}
}

// refusal returns the error of opening a file.
func refusal(t *testing.T, content string, o Options) string {
	t.Helper()
	_, err := Open(write(t, content), o)
	if err == nil {
		t.Fatalf("%s is taken", content)
	}
	return err.Error()
}

// TestCheckRecords checks that unknown keys in rows of a configuration are errors at every depth, with a suggestion. Formats that allow any key have
// no such errors.
func TestCheckRecords(t *testing.T) {
	for _, c := range []struct {
		format, row, want string
		payload           bool
	}{
		{format: "", row: `{"txet":"a","text":"b"}`, want: "c.yaml:7: rows[0].txet: unknown key (did you mean text?); allowed are type, text, "},
		{format: "single_turn", row: `{"text":"b","quite_another":1}`, want: "c.yaml:7: rows[0].quite_another: unknown key; allowed are "},
		{format: "single_turn", row: `{"text":"b","role":"user","extra":{"any":1}}`},
		{format: "multi_turn", row: `{"turns":[{"text":"a"},{"text":"b","dleay":5}]}`, want: "c.yaml:7: rows[0].turns[1].dleay: unknown key (did you mean delay?)"},
		{format: "multi_turn", row: `{"sesion_id":"s","turns":[{"text":"a"}]}`, want: "(did you mean session_id?)"},
		{format: "random_pool", row: `{"text":"b","session_id":"s"}`, want: "rows[0].session_id: unknown key"},
		{format: "mooncake_trace", row: `{"input_length":9,"outputlength":5}`, want: "(did you mean output_length?)"},
		{format: "mooncake_trace", row: `{"input_length":9,"priority2":5}`, payload: true},
		{format: "dag_jsonl", row: `{"session_id":"s","turns":[{"messages":[{"role":"user","content":"a"}],"modell":"m"}]}`, want: "rows[0].turns[0].modell: unknown key (did you mean model?)"},
		{format: "raw_payload", row: `{"messages":[{"role":"user","content":"a"}],"anything":1}`},
	} {
		o := base(c.format)
		o.PayloadRows = c.payload
		o.Records = []Pool{{Rows: raws(c.row), Where: func(i int) string { return fmt.Sprintf("c.yaml:7: rows[%d]", i) }}}
		err := CheckRecords(c.format, o)
		if said := fmt.Sprint(err); (c.want == "") != (err == nil) || c.want != "" && !strings.Contains(said, c.want) || strings.Count(said, "unknown key") > 1 {
			t.Errorf("%s %s: %v, want %q", c.format, c.row, err, c.want)
		}
	}
}
