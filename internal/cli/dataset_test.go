package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/workload/dataset/convert"
)

const chats = `{"text":"Hello there","output_length":9,"timestamp":1000}
{"session_id":"s","turns":[]}
`

// TestDescribe: the figures by hand; texts are counted with the builtin tokenizer ("one two three": 3 tokens).
func TestDescribe(t *testing.T) {
	files := map[string]string{
		"multi.jsonl": `{"session_id":"a","turns":[{"text":"one two three"},{"text":"one","image":"https://h/x.png","output_length":7}]}
{"session_id":"b","turns":[{"text":"two","audio":"wav,AAEC","timestamp":5}]}
`, "trace.jsonl": worked, "burst.csv": "Timestamp,Request tokens,Response tokens\n5,472,18\n45.5,1087,230\n",
	}
	describe := func(line string) *convert.Survey {
		status, out, errs := say(t, files, "dataset describe "+line+" --json")
		var s convert.Survey
		if err := json.Unmarshal([]byte(out), &s); err != nil || status != 0 {
			t.Fatalf("%s: %d %v\n%s%s", line, status, err, out, errs)
		}
		return &s
	}
	s := describe("multi.jsonl")
	if s.Format != "multi_turn" || s.Rows != 2 || s.Sessions != 2 || s.Turns != 3 || s.Input.Count != 3 || s.Input.Max != 3 || s.Input.Min != 1 || s.Output.Mean != 7 ||
		s.Media["images_address"] != 1 || s.Media["audio_inline"] != 1 || s.Arrivals.First != 5 || s.Prefixes != nil {
		t.Errorf("%+v %+v", s, s.Input)
	}
	s = describe("trace.jsonl")
	if s.Format != "mooncake_trace" || s.Sessions != 3 || s.Input.Count != 3 || s.Input.Max != 1500 || s.Prefixes.Unique != 5 || s.Prefixes.Groups != 1 || s.Prefixes.HitRate != 2.0/9 ||
		s.Arrivals.Last != 900.5 {
		t.Errorf("%+v %+v %+v", s, s.Prefixes, s.Arrivals)
	}
	total := int64(0)
	for _, n := range s.Arrivals.Counts {
		total += n
	}
	if first := s.Arrivals.Counts[0]; total != 3 || first != 1 {
		t.Errorf("arrivals %v", s.Arrivals.Counts)
	}
	if s = describe("burst.csv"); s.Format != "burst_gpt_trace" || s.Rows != 2 || s.Arrivals.Last != 45500 {
		t.Errorf("%+v", s)
	}
	hashes := map[string]string{"hashes.jsonl": `{"input_length":1000,"hash_ids":[1,2]}
{"input_length":1000,"hash_ids":[1,2,3]}
{"input_length":1000,"hash_ids":[1,2,3,4]}
`}
	status, out, errs := say(t, hashes, "dataset describe hashes.jsonl")
	if want := "warning: profile refuses 2 of 3 rows because of their hash ids. The first: hashes.jsonl:2: hash_ids: 3 ids of 512 tokens do not match input_length 1000: " +
		"the last block would have -24 tokens (allowed are 1 to 512; set the block size with --isl-block-size)\n"; status != 0 || errs != want || !strings.Contains(out, "rows 3") {
		t.Errorf("%d %s%s, want %s", status, out, errs, want)
	}
	status, out, errs = say(t, files, "dataset describe trace.jsonl --output-file deep/s.json")
	if status != 0 || !strings.Contains(out, "rows 3, sessions 3, turns 3") || !strings.Contains(out, "█") || !strings.Contains(out, "Prefix sharing: 5 leading sequences") {
		t.Errorf("%d %s%s", status, out, errs)
	}
	if _, err := os.Stat("deep/s.json"); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(out) {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line of more than 80 columns: %q", line)
		}
	}
	for line, want := range map[string]string{"dataset describe none": "none", "dataset": "", "dataset describe bad.jsonl": "bad.jsonl:2", "dataset explain": "unknown command"} {
		status, _, errs := say(t, map[string]string{"bad.jsonl": chats}, line)
		if (status == 0) != (want == "") || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
	}
}

// TestConvert: converting there and back gives the same texts; a row that a format cannot hold is refused, and nothing is written.
func TestConvert(t *testing.T) {
	files := map[string]string{
		"multi.jsonl":   `{"session_id":"a","turns":[{"texts":["one"]},{"texts":["two"],"delay":5,"output_length":7}]}` + "\n",
		"single.jsonl":  `{"texts":["x","y"],"images":["https://h/a.png"],"timestamp":2.5}` + "\n",
		"trace.jsonl":   worked,
		"burst.csv":     "Timestamp,Request tokens,Response tokens\n5,472,18\n",
		"payload.jsonl": `{"model":"m","messages":[{"role":"user","content":"one"}]}` + "\n",
		"chats.jsonl":   `{"timestamp":5,"messages":[{"role":"user","content":"a"}],"output_length":4,"extra":{"top_p":1}}` + "\n",
		"text.jsonl":    `{"text":"a"}` + "\n",
		"graph.jsonl":   `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"model":"n","max_tokens":3}]}` + "\n",
		"forks.jsonl": `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"forks":["h"]}]}` + "\n" +
			`{"session_id":"h","turns":[{"messages":[{"role":"user","content":"b"}]}]}` + "\n",
		"bodies.json":   `{"data":[{"session_id":"s","payloads":[{"a":1},{"b":2}]},{"session_id":"t","payloads":[{"c":3}]}]}`,
		"bailian.jsonl": `{"chat_id":7,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}` + "\n",
	}
	for line, want := range map[string]string{
		"multi.jsonl o --to mooncake_trace":     `{"session_id":"a","text_input":"one"}` + "\n" + `{"output_length":7,"session_id":"a","delay":5,"text_input":"two"}` + "\n",
		"multi.jsonl o --to multi_turn":         files["multi.jsonl"],
		"single.jsonl o --to multi_turn":        `{"turns":[{"texts":["x","y"],"images":["https://h/a.png"],"timestamp":2.5}]}` + "\n",
		"single.jsonl o --to single_turn":       files["single.jsonl"],
		"trace.jsonl o --to mooncake_trace":     files["trace.jsonl"],
		"burst.csv o --to mooncake_trace":       `{"timestamp":5000,"input_length":472,"output_length":18}` + "\n",
		"payload.jsonl o --to mooncake_trace":   `{"payload":` + strings.TrimSpace(files["payload.jsonl"]) + "}\n",
		"payload.jsonl o --to raw_payload":      files["payload.jsonl"],
		"payload.jsonl deep/o --to raw_payload": "",
		"payload.jsonl o --to inputs_json":      `{"data":[{"session_id":"session_000000","payloads":[` + strings.TrimSpace(files["payload.jsonl"]) + "]}]}\n",
		"bodies.json o --to inputs_json":        `{"data":[{"session_id":"s","payloads":[{"a":1},{"b":2}]},` + "\n" + `{"session_id":"t","payloads":[{"c":3}]}]}` + "\n",
		"text.jsonl o --to random_pool":         `{"texts":["a"]}` + "\n",
		"text.jsonl o --to dag_jsonl":           `{"session_id":"session_000000","turns":[{"messages":[{"role":"user","content":"a"}]}]}` + "\n",
		"graph.jsonl o --to dag_jsonl":          `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"model":"n","max_tokens":3}]}` + "\n",
		"burst.csv o --to burst_gpt_trace":      files["burst.csv"],
		"burst.csv o --to bailian_trace":        `{"chat_id":1,"parent_chat_id":-1,"timestamp":5,"input_length":472,"output_length":18,"turn":1}` + "\n",
		"bailian.jsonl o --to bailian_trace":    `{"chat_id":1,"parent_chat_id":-1,"timestamp":0.5,"input_length":20,"output_length":3,"turn":1,"hash_ids":[1,2]}` + "\n",
		"chats.jsonl o --to sagemaker_data_capture": `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":4,\"top_p\":1}","encoding":"JSON"}},` +
			`"eventMetadata":{"eventId":"row-1","inferenceTime":"1970-01-01T00:00:00.005Z"}}` + "\n",
	} {
		status, out, errs := say(t, files, "dataset convert "+line)
		got, err := os.ReadFile(strings.Fields(line)[1])
		if status != 0 || err != nil || want != "" && string(got) != want {
			t.Errorf("%s: %d %v %s\n%swant\n%s%s", line, status, err, errs, got, want, out)
		}
	}
	for line, want := range map[string]string{
		"multi.jsonl o --to single_turn": "multi.jsonl:1: session \"a\" has several requests with context_mode deltas_without_responses, but those of single_turn are always sent as message_array_with_responses", "trace.jsonl o --to multi_turn": "trace.jsonl:1: the row has lengths", "single.jsonl o --to mooncake_trace": "single.jsonl:1: a row of mooncake_trace",
		"forks.jsonl o --to mooncake_trace": "forks.jsonl:1: the turn starts other sessions", "graph.jsonl o --to mooncake_trace": "headers or model, which this format", "trace.jsonl o --to burst_gpt_trace": "can hold neither sessions nor",
		"trace.jsonl o --to dag_jsonl": "cannot be written as dag_jsonl", "multi.jsonl o --to random_pool": "drawn independently", "multi.jsonl o --to inputs_json": "only whole request bodies",
		"text.jsonl o --to bailian_trace": "does not count the tokens of texts", "burst.csv o --to sagemaker_data_capture": "needs messages and a time", "text.jsonl o --to baseten_trace": "text.jsonl:1: timestamp: missing", "burst.csv o --to baseten_trace": "burst.csv:2: the row has lengths but no text",
		"chats.jsonl o --to baseten_trace": "chats.jsonl:1: prompt: a row of baseten_trace can hold one text only", "text.jsonl o --to tracelab": "text.jsonl:1: tracelab needs the agents",
		"single.jsonl o --to raw_payload": "only whole request bodies", "single.jsonl o --to csv": `--to "csv"`, "single.jsonl trace.jsonl --to single_turn": "--force",
	} {
		status, _, errs := say(t, files, "dataset convert "+line)
		if status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
		if _, err := os.Stat("o"); err == nil {
			t.Errorf("%s: a file is written", line)
		}
	}
}

// TestConvertTellsBlocks: hash ids that stand for other blocks than those of the format are reported with the flag that they need.
func TestConvertTellsBlocks(t *testing.T) {
	files := map[string]string{"b.jsonl": `{"chat_id":7,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}`, "t.jsonl": worked}
	for line, want := range map[string]string{
		"b.jsonl o --to mooncake_trace": "--isl-block-size 16", "b.jsonl o --to bailian_trace": "", "t.jsonl o --to bailian_trace": "--isl-block-size 512", "t.jsonl o --to mooncake_trace": "",
	} {
		if status, _, errs := say(t, files, "dataset convert "+line); status != 0 || strings.Contains(errs, "--isl-block-size") != (want != "") || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %q, want %q", line, status, errs, want)
		}
	}
}

// TestConvertToTable: rows written to a table are the same when read again, with the tokens of their prompts; a row that a table cannot hold is refused by row
// and key, and the flag that the replay needs is printed.
func TestConvertToTable(t *testing.T) {
	const row = `{"session_id":"s","texts":[{"name":"text","contents":["one two three"]}],"timestamp":5,"output_length":7,"extra":{"min_tokens":7,"hash_ids":[1,2],"block_size":64}}` + "\n" +
		`{"texts":[{"name":"text","contents":["ü"]}],"timestamp":9,"output_length":1,"extra":{"min_tokens":1}}` + "\n"
	files := map[string]string{"in.jsonl": row, "free.jsonl": `{"text":"a","timestamp":0,"output_length":2}` + "\n"}
	for _, line := range []string{"in.jsonl o.parquet --to baseten_trace", "o.parquet back.jsonl --to single_turn"} {
		if status, _, errs := say(t, files, "dataset convert "+line); status != 0 || errs != "" {
			t.Fatalf("%s: %d %s", line, status, errs)
		}
		table, err := os.ReadFile(strings.Fields(line)[1])
		if err != nil {
			t.Fatal(err)
		}
		files[strings.Fields(line)[1]] = string(table)
	}
	if want := strings.NewReplacer(`"timestamp":5`, `"timestamp":0`, `"timestamp":9`, `"timestamp":4`).Replace(row); files["back.jsonl"] != want { // times count from the first
		t.Errorf("%s\nwant %s", files["back.jsonl"], want)
	}
	status, out, errs := say(t, files, "dataset describe o.parquet --json")
	if status != 0 || !strings.Contains(out, `"rows": 2`) {
		t.Errorf("%d %s%s", status, out, errs)
	}
	if status, _, errs := say(t, files, "dataset convert free.jsonl f.parquet --to baseten_trace"); status != 0 || !strings.Contains(errs, "--no-force-min-tokens") {
		t.Errorf("%d %s", status, errs)
	}
	for old, want := range map[string]string{
		`"timestamp":9`: "timestamp: 9.5", `"min_tokens":1`: "extra.min_tokens: 2", `"extra":{"min_tokens":1}`: "extra.min_tokens: in baseten_trace", `"output_length":1,`: "output_length: missing",
		`{"min_tokens":1}`: "extra: baseten_trace allows only", `"texts"`: "prompt: a row of baseten_trace can hold one text",
	} {
		now := map[string]string{`"timestamp":9`: `"timestamp":9.5`, `"min_tokens":1`: `"min_tokens":2`, `"extra":{"min_tokens":1}`: `"type":"single_turn"`, `"output_length":1,`: "",
			`{"min_tokens":1}`: `{"min_tokens":1,"top_p":1}`, `"texts"`: `"images":["https://h/a.png"],"texts"`}[old]
		at := strings.LastIndex(row, old)
		status, _, errs := say(t, map[string]string{"in.jsonl": row[:at] + now + row[at+len(old):]}, "dataset convert in.jsonl o.parquet --to baseten_trace")
		if status != 1 || !strings.Contains(errs, "in.jsonl:2: "+want) {
			t.Errorf("%s: %d %s, want %s", now, status, errs, want)
		}
	}
}
