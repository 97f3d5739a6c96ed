package custom

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/testhome"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// leave makes the rows of every file stay in it during a test, and moves all stored data to temporary files.
func leave(t *testing.T) {
	file, head := maxFileInMemory, boundedfile.HeadInMemory
	maxFileInMemory, boundedfile.HeadInMemory = -1, 0
	t.Cleanup(func() { maxFileInMemory, boundedfile.HeadInMemory = file, head })
}

// hurry makes every file too large to be scanned before it is used.
func hurry(t *testing.T) {
	before := maxScanned
	maxScanned = -1
	t.Cleanup(func() { maxScanned = before })
}

// whole returns everything that a dataset provides, as text.
func whole(t *testing.T, s dataset.Dataset) []string {
	t.Helper()
	out := []string{}
	say := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	s.Len() // the whole file is read
	say(s.Info())
	order := make([]int, dataset.All(s))
	for i := range order {
		order[i] = dataset.Nth(len(order)-1-i, s.Len()) // not the order in which they were read
	}
	for _, i := range order {
		say(s.ID(i))
		say(s.Timings(i))
		draft, made := s.Draft(i)
		c := s.Conversation(i)
		if made && !reflect.DeepEqual(draft, c) {
			t.Errorf("%d: %+v is said to be all of %+v", i, draft, c)
		}
		say(draft)
		say(c)
	}
	return out
}

// TestIndexedIsTheSame checks that rows that stay in their file give the same as rows in memory, in every format and with every option.
func TestIndexedIsTheSame(t *testing.T) {
	testhome.Slow(t)
	files := map[string]string{
		"single_turn": "\ufeff{\"text\":\"a\"}\n\n  {\"texts\":[\"b\",\"c\"],\"timestamp\":5,\"output_length\":3,\"extra\":{\"z\":1}}  \r\n{\"text\":\"ü\",\"delay\":7}\n{\"text\":\"outside\",\"timestamp\":99}",
		"multi_turn": `{"session_id":"x","turns":[{"role":"system","text":"s"},{"text":"a"},{"text":"b","delay":9}]}` + "\n" +
			`{"session_id":"y","turns":[{"text":"c","output_length":4}]}`,
		"mooncake_trace": `{"timestamp":1,"input_length":700,"hash_ids":[1,2],"output_length":9}` + "\n" + `{"timestamp":2,"text_input":"t"}` + "\n" +
			`{"input_length":30}` + "\n" + `{"messages":[{"role":"user","content":"m"}],"output_length":900}` + "\n" + `{"input_length":1100,"hash_ids":[1,2]}`,
		"raw_payload": `{"messages":[], "a" : 1}` + "\n" + `{"b":[1, 2]}`,
		"single_turn rows of sessions": `{"session_id":"x","text":"a"}` + "\n" + `{"text":"alone"}` + "\n" + `{"session_id":"y","text":"c","timestamp":3}` + "\n" +
			`{"session_id":"x","text":"b","output_length":3}` + "\n" + `{"text":"last","delay":4}`,
		"multi_turn rows of sessions": `{"session_id":"x","turns":[{"role":"system","text":"s"}]}` + "\n" + `{"session_id":"y","turns":[{"text":"c"}]}` + "\n" +
			`{"session_id":"x","turns":[{"text":"a"},{"role":"system","text":"t"}]}` + "\n" + `{"turns":[{"role":"system","text":"u"},{"text":"v","delay":4}]}`,
		"mooncake_trace rows of sessions": `{"session_id":"a","timestamp":1,"input_length":700,"hash_ids":[1,2]}` + "\n" + `{"input_length":40,"timestamp":2}` + "\n" +
			`{"session_id":"a","input_length":60,"delay":5}` + "\n" + `{"session_id":"b","messages":[{"role":"user","content":"m"}],"context_mode":"deltas_with_responses"}` + "\n" +
			`{"session_id":"a","input_length":1100,"hash_ids":[1,2],"output_length":300}`,
		"bailian_trace": `{"chat_id":11,"parent_chat_id":-1,"timestamp":0.25,"input_length":40,"output_length":30,"hash_ids":[1,2,3]}` + "\n" +
			`{"chat_id":7,"parent_chat_id":5,"timestamp":0.003,"input_length":9,"output_length":0}` + "\n" +
			`{"chat_id":12,"parent_chat_id":11,"timestamp":0.04,"input_length":90,"output_length":20,"turn":3,"hash_ids":[1,2,3,4,5,6]}` + "\n" +
			`{"chat_id":13,"parent_chat_id":11,"timestamp":0.03,"input_length":33,"output_length":200,"turn":2}`,
		"burst_gpt_trace":        "\ufeffTimestamp,Model,Request tokens,Response tokens\n0.005,\"a,\n\"\"b\",12,5\n\n0.02,x,no,5\n0.049,x,20,900\n99,x,7,8\n",
		"sagemaker_data_capture": capturedRow("late", "2025-03-01T10:00:00.040Z") + "\n" + capturedRow("early", "2025-03-01T11:00:00+01:00") + "\n" + capturedRow("outside", "2025-03-01T10:00:09Z"),
		"inputs_json":            "{\"other\":[{}],\n \"data\": [\n{\"session_id\":\"s\",\"payloads\":[{\"a\": 1},\n{\"b\":2}]},\n\n {\"session_id\":\"t\",\"payloads\":[{\"c\":3}]}\n], \"end\": 1}",
		"dag_jsonl": `{"session_id":"child","turns":[{"messages":[{"role":"user","content":"c"}],"model":"own"}]}` + "\n" +
			`{"session_id":"root","turns":[{"messages":[{"role":"user","content":"r"}],"spawns":["child"],"max_tokens":4},{"messages":[{"role":"user","content":"q"}],"delay":3,"forks":["fork"]}]}` + "\n" +
			`{"session_id":"fork","turns":[{"messages":[{"role":"user","content":"f"}]}]}` + "\n" +
			`{"session_id":"o","orchestrator":true,"rounds":2,"spawns":["child"],"think_time_ms":50,"think_time_sigma":0.5}`,
		"weka_trace": strings.ReplaceAll(wekaTrace, "\n", "") + "\n" + strings.NewReplacer("\n", "", `"t","models"`, `"u","models"`, "1.6", "0.61", `"x"`, `"y"`).Replace(wekaTrace),
		"tracelab": roundRow("a", 1, "00:00:01", "Agent") + "\n" + roundRow("b", 1, "00:00:03", "") + "\n" + roundRow("c", 2, "00:00:00", "") + "\n" +
			roundRow("a", 2, "00:00:25", "") + "\n" + roundRow("c", 1, "00:00:00", "") + "\n" + roundRow("b", 2, "00:00:05", ""),
		"speed_bench":             questionRow('a', "coding", "system", "user") + "\n" + questionRow('b', "math", "user") + "\n" + questionRow('a', "coding", "user"),
		"speed_bench_math of two": questionRow('a', "coding", "user") + "\n" + questionRow('b', "math", "user", "user") + "\n" + questionRow('c', "math", "user"),
		"speed_bench_none of two": questionRow('a', "coding", "user") + "\n" + questionRow('b', "math", "user"),
	}
	for format, content := range files {
		about := format
		format, _, _ = strings.Cut(format, " ")
		for name, change := range map[string]func(o *Options){
			"plain":  func(*Options) {},
			"models": func(o *Options) { o.Assignment.Models = []string{"m", "n", "p"} },
			"random": func(o *Options) {
				o.Assignment = dataset.Assignment{Models: []string{"m", "n"}, Strategy: dataset.RandomModels, OSL: &dataset.Distribution{Mean: 50, StdDev: 9}}
			},
			"osl":    func(o *Options) { o.Assignment.OSL = &dataset.Distribution{Mean: 50} },
			"limits": func(o *Options) { o.Limits.End, o.Limits.MaxOSL, o.Limits.MaxISL = ms(50), 100, 1000 },
			"users":  func(o *Options) { o.Context = synth.Context{User: 9} },
			"system": func(o *Options) { o.Context = synth.Context{System: "be brief"} },
			"shared": func(o *Options) { o.Context = synth.Context{SharedSystem: 12, User: 3}; o.DelayRatio = 2 },
			"rescaled": func(o *Options) {
				if f, _ := Find(o.Type); f.Trace {
					o.Synthesis = &trace.Synthesis{Speedup: 2, PrefixLen: 1.5, PrefixRoot: 3, PromptLen: 0.5, OutputLen: 3, MaxOSL: 200}
				}
			},
			"markers": func(o *Options) { o.Marker = func() (system, text int) { return 3, 8 } },
			"marked, shared": func(o *Options) {
				o.Context, o.Marker = synth.Context{SharedSystem: 12}, func() (system, text int) { return 3, 8 }
			},
			"marked, rescaled": func(o *Options) {
				o.Marker = func() (system, text int) { return 3, 35 }
				if f, _ := Find(o.Type); f.Trace {
					o.Synthesis = &trace.Synthesis{Speedup: 2, PrefixLen: 1.5, PrefixRoot: 2, PromptLen: 0.5, OutputLen: 1}
				}
			},
			"payloads": func(o *Options) { o.PayloadRows = o.Type == "mooncake_trace" },
			"ordered":  func(o *Options) { o.Agents.Order = true },
		} {
			o := agentsBase(format)
			change(&o)
			o.Early = len(name)%2 == 0
			if f, _ := Find(format); f.Unscaled {
				o.Synthesis = nil
			}
			t.Run(about+" "+name, func(t *testing.T) { leftIsKept(t, write(t, content), o) })
			t.Run(about+" "+name+", packed", func(t *testing.T) { leftIsKept(t, packed(t, content), o) })
		}
	}
}

// leftIsKept compares a file whose rows stay in it with the same file in memory.
func leftIsKept(t *testing.T, path string, o Options) {
	t.Helper()
	first := o
	first.Early = false
	kept, keptErr := Open(path, first)
	leave(t)
	left, err := Open(path, o)
	if (err == nil) != (keptErr == nil) || err != nil && strings.TrimPrefix(err.Error(), path+": ") != strings.TrimPrefix(keptErr.Error(), path+": ") {
		t.Fatalf("%v, want %v", err, keptErr)
	}
	if err != nil {
		return
	}
	if f, _ := Find(o.Type); !f.Agents { // whose sessions are stored elsewhere
		x, ok := left.(*indexed)
		if !ok {
			t.Fatalf("the rows were kept: %T", left)
		}
		if err := x.end(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	if got, want := whole(t, left), whole(t, kept); !slices.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("got  %s\nwant %s", got[i], want[i])
			}
		}
	}
}

// packed writes a gzip file.
func packed(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(content))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.jsonl.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// questionRow returns a row of speed_bench. Its id is a repeated letter.
func questionRow(id byte, category string, roles ...string) string {
	var messages []string
	for i, role := range roles {
		messages = append(messages, fmt.Sprintf(`{"role":"%s","content":"%c%d"}`, role, id, i))
	}
	return fmt.Sprintf(`{"question_id":"%s","category":"%s","messages":[%s]}`, strings.Repeat(string(id), QuestionID), category, strings.Join(messages, ","))
}

// roundRow returns a round of a TraceLab session at a time of day, with a tool call of 20 s.
func roundRow(session string, number int, at, tool string) string {
	calls := ""
	if tool != "" {
		calls = fmt.Sprintf(`{"tool_name":"%s","emitted_at":"2026-01-01T%sZ","result_at":"2026-01-01T00:00:21Z","tool_wall_latency_ms":20000}`, tool, at)
	}
	return fmt.Sprintf(`{"session_id":"%s","round_index":%d,"input_tokens_total":%d,"prefix_tokens":64,"output_tokens":7,"user":"u","project":"p","model":"m%s",`+
		`"timing_events":[{"event_type":"user_message","timestamp":"2026-01-01T%sZ"}],"tools":[%s]}`, session, number, 100+90*number, session, at, calls)
}

// capturedRow returns a captured request with a time.
func capturedRow(text, at string) string {
	return `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"` + text + `\"}],\"max_tokens\":160,\"top_p\":1}","encoding":"JSON"}},` +
		`"eventMetadata":{"eventId":"e","inferenceTime":"` + at + `"}}`
}

// TestIndexedFaults checks that errors are the same as for other files.
func TestIndexedFaults(t *testing.T) {
	leave(t)
	text := refusal(t, "{\"text\":\"a\"}\n{\"text\":5}\nx\n", base("single_turn"))
	if !strings.Contains(text, ":2: text: must be a string") || !strings.Contains(text, ":3: invalid JSON") {
		t.Error(text)
	}
}

// TestIndexedMemory checks that the index of a file is much smaller than the file, and that rows use no memory besides the columns.
func TestIndexedMemory(t *testing.T) {
	leave(t)
	const count = 20_000
	path := filepath.Join(t.TempDir(), "in.jsonl")
	row := `{"text":"` + strings.Repeat("word ", 100) + "\"}\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(row, count)), 0o600); err != nil {
		t.Fatal(err)
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	s, err := Open(path, base("single_turn"))
	if err != nil {
		t.Fatal(err)
	}
	grown := heap() - before
	if most := 100 * count; grown > most || s.Len() != count {
		t.Errorf("%d rows, %d bytes more, at most %d are expected", s.Len(), grown, most)
	}
	if got := s.Conversation(count - 1).Turns[0]; !reflect.DeepEqual(got.Parts, conversation.Texts("", strings.Repeat("word ", 100))) || got.Origin != path+":"+strconv.Itoa(count) {
		t.Errorf("%+v", got)
	}
}

// TestEarly checks that a large file used in order is read only as far as needed, and that later errors are reported when they are reached.
func TestEarly(t *testing.T) {
	leave(t)
	hurry(t)
	const count = 5 * readAhead
	lines := strings.Repeat("{\"text\":\"word\"}\n", count)
	o := base("single_turn")
	o.Early = true
	s := open(t, lines, o).(*indexed)
	if known := s.Known(); known > count/2 {
		t.Errorf("%d rows were read for the first", known)
	}
	if ok, err := s.Reach(2 * readAhead); !ok || err != nil || s.Known() > count-readAhead/2 {
		t.Errorf("%v %v, %d rows were read", ok, err, s.Known())
	}
	if c := s.Conversation(2 * readAhead); c.ID != "session_008192" || c.Turns[0].Parts[0].Text != "word" {
		t.Errorf("%+v", c)
	}
	if s.Len() != count || s.Info().Turns != count {
		t.Errorf("%d rows", s.Len())
	}
	if ok, err := s.Reach(count); ok || err != nil {
		t.Errorf("a row behind the last: %v", err)
	}
	for end, want := range map[string]string{"{\"text\":5}\n": ":20481: text: must be a string", "{\"session_id\":\"x\",\"text\":\"a\"}\n": ":20481: session_id: the first row has none"} {
		bad := open(t, lines+end+lines, o).(*indexed)
		if ok, err := bad.Reach(count - 1); !ok || err != nil {
			t.Errorf("row before the fault: %v", err)
		}
		if ok, err := bad.Reach(count); ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	named := open(t, `{"session_id":"x","text":"a"}`+"\n"+`{"session_id":"x","text":"b"}`, o)
	if named.Len() != 1 || len(named.Conversation(0).Turns) != 2 {
		t.Errorf("%d conversations", named.Len())
	}
	closed := open(t, lines, o).(*indexed)
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if _, err := closed.Reach(count - 1); err == nil {
		t.Error("rows of a closed file")
	}
}

// TestEarlySchedule checks that a large recording sorted by time is read only as far as needed, with or without hash ids. An unsorted one is read
// whole if that is noticed before the first request, and is otherwise rejected when it is noticed.
func TestEarlySchedule(t *testing.T) {
	testhome.Slow(t)
	leave(t)
	row := func(at int) string {
		return fmt.Sprintf(`{"timestamp":%d,"input_length":700,"hash_ids":[1,%d]}`, at, at) + "\n"
	}
	var b strings.Builder
	for i := range 3 * readAhead {
		b.WriteString(row(i))
	}
	o := base("mooncake_trace")
	o.Early, o.Scheduled = true, true
	for _, looked := range []bool{true, false} {
		if !looked {
			hurry(t)
		}
		s := open(t, b.String(), o).(*indexed)
		if !s.Ordered() || s.Known() > 2*readAhead {
			t.Errorf("%v, %d rows were read for the first", s.Ordered(), s.Known())
		}
		if c := s.Conversation(readAhead); *c.Turns[0].Timestamp != readAhead || c.Turns[0].Parts[0].Text == "" {
			t.Errorf("%+v", c)
		}
		soon := open(t, row(5)+row(9)+b.String(), o).(*indexed)
		if soon.Ordered() || soon.Known() != 3*readAhead+2 {
			t.Errorf("%v, %d rows are known", soon.Ordered(), soon.Known())
		}
		late := open(t, b.String()+row(7)+b.String(), o).(*indexed)
		if late.Ordered() == looked {
			t.Errorf("looked through %v, sent while it is read %v", looked, late.Ordered())
		}
		_, err := late.Reach(3 * readAhead)
		if looked && err != nil || !looked && (err == nil || !strings.Contains(err.Error(), ":12289: timestamp: 7 ms comes after 12287 ms")) {
			t.Error(err)
		}
	}
	o.Limits.End = ms(20)
	if s := open(t, b.String()+row(9), o).(*indexed); s.Len() != 21 || s.Info().OutsideWindow != 1 {
		t.Errorf("%d rows in the window, %d seen outside it", s.Len(), s.Info().OutsideWindow)
	}
}

// TestNamespaces checks that hash ids give the same text however a file is read. Above the limit, the namespace depends on size, start and end of the
// file.
func TestNamespaces(t *testing.T) {
	lines := `{"input_length":700,"hash_ids":[1,2]}` + "\n" + `{"input_length":700,"hash_ids":[1,3]}`
	text := func(s dataset.Dataset) string { return s.Conversation(1).Turns[0].Parts[0].Text }
	o := base("mooncake_trace")
	kept := text(open(t, lines, o))
	leave(t)
	o.Early = true
	if left := text(open(t, lines, o)); left != kept {
		t.Errorf("got  %q\nwant %q", left, kept)
	}
	hurry(t)
	large := text(open(t, lines, o))
	o.Early = false
	if large == kept || large != text(open(t, lines, o)) {
		t.Error("the text of a large file depends on how it is read, or not on the file")
	}
}
