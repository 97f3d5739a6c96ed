package custom

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/weka"
)

// wekaTrace is a trace with two requests and an agent between them.
const wekaTrace = `{"id":"t","models":["a","b"],"block_size":64,"hash_id_scope":"local","tool_tokens":10,"system_tokens":20,"requests":[
 {"t":0,"type":"n","model":"a","in":130,"out":8,"hash_ids":[1,2],"api_time":0.5},
 {"t":0.6,"type":"subagent","agent_id":"x","subagent_type":"e","duration_ms":900,"status":"completed","models":["b"],"requests":[
  {"t":0.7,"type":"s","model":"b","in":100,"out":0,"hash_ids":[50],"api_time":0.2,"ttft":0.1}]},
 {"t":1.6,"type":"n","model":"a","in":260,"out":9,"hash_ids":[1,2,3,4],"api_time":0.5,"think_time":0.3}]}`

func agentsBase(format string) Options {
	o := base(format)
	o.Agents = weka.Options{Detection: weka.Detection{Split: true, SeamGap: 3600, SeamOverlap: 0.5, AuxRequests: 1, AuxFloor: 16384, AuxModel: true}}
	o.Join = weka.Join{Agents: true, Codex: true, Least: 10_000}
	return o
}

// summary formats what is sent and when: times, models, lengths, and the token count of each message.
func summary(t *testing.T, c *conversation.Conversation) string {
	t.Helper()
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", c.ID)
	for _, turn := range c.Turns {
		b.WriteString(" [")
		if turn.Timestamp != nil {
			fmt.Fprintf(&b, "at %.6g ", *turn.Timestamp)
		}
		if turn.Delay != nil {
			fmt.Fprintf(&b, "after %.6g ", *turn.Delay)
		}
		fmt.Fprintf(&b, "%s %d", turn.Model, *turn.MaxTokens)
		for _, raw := range turn.RawMessages {
			var m struct{ Role, Content string }
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, " %s:%d", m.Role, tok.Count(m.Content))
		}
		for _, branch := range turn.Branches {
			fmt.Fprintf(&b, " ->%d join %d before %v", dataset.Position(branch.Conversation, 0), branch.Join, branch.Before)
		}
		b.WriteString("]")
	}
	return b.String()
}

// TestWeka reads one trace over several lines, one trace per line, and a folder of traces. Requests have the recorded lengths.
func TestWeka(t *testing.T) {
	want := []string{
		"t: [at 0 m 8 system:64 user:68 ->0 join 1 before false] [at 1600 after 1100 m 9 system:64 user:64 assistant:64 user:68]",
		"t::sa:x: [at 700 after 200 n 1 user:100]",
	}
	dir := t.TempDir()
	pretty := filepath.Join(dir, "a.json")
	for path, content := range map[string]string{pretty: wekaTrace, filepath.Join(dir, "rows.jsonl"): strings.ReplaceAll(wekaTrace, "\n", "") + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{pretty, filepath.Join(dir, "rows.jsonl")} {
		o := agentsBase("")
		o.Assignment.Models = []string{"m", "n"}
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if info := s.Info(); info.Type != "weka_trace" || info.Started != 1 || s.Len() != 1 || info.Turns != 3 {
			t.Errorf("%s: %+v", path, info)
		}
		for i, w := range want {
			if got := summary(t, s.Conversation(dataset.Nth(i, s.Len()))); got != w {
				t.Errorf("%s: %s\nwant %s", path, got, w)
			}
		}
	}
	folder := t.TempDir()
	for _, id := range []string{"b", "a"} {
		text := strings.Replace(wekaTrace, `"id":"t"`, `"id":"`+id+`"`, 1)
		if err := os.WriteFile(filepath.Join(folder, id+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(folder, agentsBase(""))
	if err != nil || s.Len() != 2 || s.ID(0) != "a" || s.ID(dataset.FirstStarted) != "a::sa:x" || s.ID(dataset.FirstStarted+1) != "b::sa:x" {
		t.Errorf("folder: %v", err)
	}
}

// TestWekaSharing checks that equal hash ids give equal text in all agents of a trace, and other text in another trace.
func TestWekaSharing(t *testing.T) {
	one := strings.Replace(strings.ReplaceAll(wekaTrace, "\n", ""), `"hash_ids":[50]`, `"hash_ids":[1]`, 1)
	s := open(t, one+"\n"+strings.Replace(one, `"id":"t"`, `"id":"u"`, 1), agentsBase(""))
	content := func(i, turn, message int) string {
		var m struct{ Content string }
		if err := json.Unmarshal(s.Conversation(i).Turns[turn].RawMessages[message], &m); err != nil {
			t.Fatal(err)
		}
		return m.Content
	}
	system := content(0, 0, 0)
	if content(0, 1, 0) != system || !strings.HasPrefix(content(dataset.FirstStarted, 0, 0), system) || content(1, 0, 0) == system {
		t.Errorf("%.30q %.30q %.30q %.30q", system, content(0, 1, 0), content(dataset.FirstStarted, 0, 0), content(1, 0, 0))
	}
}

// TestWekaOptions checks times, limits and selection.
func TestWekaOptions(t *testing.T) {
	content := strings.ReplaceAll(wekaTrace, "\n", "")
	cap2 := 0.2
	for _, c := range []struct {
		name string
		set  func(o *Options)
		want string
	}{
		{"instant", func(o *Options) { o.Agents.Instant = true }, "t: [m 8 system:64 user:68 ->0 join 1 before false] [m 9 system:64 user:64 assistant:64 user:68]"},
		{"think", func(o *Options) { o.Agents.ThinkTime = true }, "t: [at 0 m 8 system:64 user:68 ->0 join 1 before false] [at 1600 after 300 m 9 system:64 user:64 assistant:64 user:68]"},
		{"idle", func(o *Options) { o.Agents.IdleCap = &cap2 }, "t: [at 0 m 8 system:64 user:68 ->0 join 1 before true] [at 400 after 0 m 9 system:64 user:64 assistant:64 user:68]"},
		{"ratio", func(o *Options) { o.DelayRatio = 0.5 }, "t: [at 0 m 8 system:64 user:68 ->0 join 1 before false] [at 1600 after 550 m 9 system:64 user:64 assistant:64 user:68]"},
		{"max osl", func(o *Options) { o.Limits.MaxOSL = 4 }, "t: [at 0 m 4 system:64 user:68 ->0 join 1 before false] [at 1600 after 1100 m 4 system:64 user:64 assistant:64 user:68]"},
		{"max isl", func(o *Options) { o.Limits.MaxISL = 200 }, "t: [at 0 m 8 system:64 user:68 ->0 join 0 before false]"},
	} {
		o := agentsBase("weka_trace")
		c.set(&o)
		if got := summary(t, open(t, content, o).Conversation(0)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	o := agentsBase("")
	o.MaxContext, o.Entries = 269, 1
	if s := open(t, strings.Replace(content, `"id":"t","models"`, `"id":"big","models"`, 1)[:0]+content+"\n"+strings.Replace(content, `"id":"t"`, `"id":"u"`, 1), o); s.Len() != 1 {
		t.Errorf("%d conversations of one entry", s.Len())
	}
	o.MaxContext = 268
	if _, err := Open(write(t, content), o); err == nil || !strings.Contains(err.Error(), "the shortest needs 269") {
		t.Error(err)
	}
}

// TestWekaFaults checks that errors name file, line and field.
func TestWekaFaults(t *testing.T) {
	row := strings.ReplaceAll(wekaTrace, "\n", "")
	for _, c := range []struct{ old, now, want string }{
		{`"block_size":64`, `"block_size":0`, ":1: block_size: must be at least 1, got 0"},
		{`"hash_id_scope":"local"`, `"hash_id_scope":"global"`, `:1: hash_id_scope: must be "local"`},
		{`"models":["a","b"]`, `"models":["a","b"],"colour":1`, ":1: colour: unknown key; allowed are id"},
		{`"ttft":0.1`, `"first":0.1`, ":1: requests[1].requests[0].first: unknown key"},
		{`"in":260`, `"in":"x"`, `:1: requests[2].in: must be an integer, got "x"`},
		{`"type":"s"`, `"type":"subagent"`, ":1: requests[1].requests[0].type: must be n or s"},
		{`"t":1.6,`, ``, ":1: requests[2].t: missing"},
		{`"hash_ids":[1,2],`, ``, ":1: requests[0].hash_ids: the first message has 30 tokens, so 1 blocks, but only 0 ids"},
	} {
		_, err := Open(write(t, strings.Replace(row, c.old, c.now, 1)), agentsBase("weka_trace"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.now, err)
		}
	}
	for _, c := range []struct{ content, want string }{
		{row + "\n" + row, ":2: id: \"t\" is used twice"},
		{wekaTrace[:200], ":2: invalid JSON: unexpected EOF"},
		{wekaTrace + "\n1", "must be one JSON object, but a number follows it in line 6"},
	} {
		if _, err := Open(write(t, c.content), agentsBase("weka_trace")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestTraceLab checks that rounds in any order become sessions. The prefix of a round comes from the previous round. A session within a tool call is
// an agent of the calling session.
func TestTraceLab(t *testing.T) {
	event := func(kind, at string) string {
		return `{"event_type":"` + kind + `","timestamp":"2026-01-01T00:00:` + at + `Z"}`
	}
	content := strings.Join([]string{
		`{"session_id":"p:1","round_index":1,"input_tokens_total":200,"prefix_tokens":128,"output_tokens":5,"model":"a","user":"u","project":"q","timing_events":[` + event("tool_result", "30") + `,` + event("text", "31") + `]}`,
		`{"session_id":"p:1","round_index":0,"input_tokens_total":130,"prefix_tokens":0,"output_tokens":3,"reasoning_output_tokens":4,"model":"a","user":"u","project":"q","timing_events":[` + event("user_message", "00") + `,` + event("tool_call", "02") +
			`],"tools":[{"tool_name":"Task","emitted_at":"2026-01-01T00:00:02Z","result_at":"2026-01-01T00:00:29Z","tool_wall_latency_ms":27000}]}`,
		`{"session_id":"c","round_index":0,"input_tokens_total":70,"prefix_tokens":0,"output_tokens":3,"model":"a","user":"u","project":"q","timing_events":[` + event("user_message", "05") + `,` + event("text", "06") + `]}`,
	}, "\n")
	s := open(t, content, agentsBase(""))
	if info := s.Info(); info.Type != "tracelab" || s.Len() != 1 || info.Started != 1 || !info.FirstHasTime {
		t.Fatalf("%+v", info)
	}
	for i, want := range []string{
		"p_1: [at 0 m 7 user:130 ->0 join 1 before false] [at 30000 after 28000 m 5 user:128 assistant:64 user:8]",
		"p_1::sa:c: [at 5000 after 3000 m 3 user:70]",
	} {
		if got := summary(t, s.Conversation(dataset.Nth(i, s.Len()))); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if _, err := Open(write(t, strings.Replace(content, "2026-01-01T00:00:30Z", "yesterday", 1)), agentsBase("")); err == nil ||
		!strings.Contains(err.Error(), `:1: timing_events[0].timestamp: must be an ISO 8601 time, got "yesterday"`) {
		t.Error(err)
	}
}

// TestBaseten checks that completions of a table are sent as recorded, on a schedule or one after the other.
func TestBaseten(t *testing.T) {
	gap := 1500.0
	for _, c := range []struct {
		name, file string
		set        func(o *Options)
		want       []string
	}{
		{"parquet", "baseten.parquet", func(*Options) {}, []string{
			`s1: [at 0 7 "first" {"min_tokens":7,"hash_ids":[1,2],"block_size":64}] [at 2000 8 "first second" {"min_tokens":8,"hash_ids":[1,2,3],"block_size":64}]`,
			`s2: [at 3000 1 "later" {"min_tokens":1,"block_size":64}]`, `session_000000: [at 100000 6 "alone é" {"min_tokens":6,"block_size":64}]`}},
		{"arrow closed", "baseten.arrow", func(o *Options) { o.Columnar.ClosedLoop, o.Columnar.NoHints = true, true }, []string{
			`s1: [at 0 7 "first" {"min_tokens":7}] [after 1600 8 "first second" {"min_tokens":8}]`, `s2: [at 3000 1 "later" {"min_tokens":1}]`, `session_000000: [at 100000 6 "alone é" {"min_tokens":6}]`}},
		{"fast, strict", "baseten.parquet", func(o *Options) { o.Columnar = Columnar{Speedup: 2, Strict: true, NoHints: true, FreeLength: true} }, []string{
			`s1#0: [at 0 7 "first" ]`, `s1#1: [at 1000 8 "first second" ]`, `s2#0: [at 1500 1 "later" ]`, `session_000000#0: [at 50000 6 "alone é" ]`}},
		{"gaps", "baseten.parquet", func(o *Options) { o.Columnar = Columnar{IdleCap: &gap, NoHints: true, FreeLength: true} }, []string{
			`s1: [at 0 7 "first" ] [at 1500 8 "first second" ]`, `s2: [at 2500 1 "later" ]`, `session_000000: [at 4000 6 "alone é" ]`}},
	} {
		o := base("")
		c.set(&o)
		s, err := Open(filepath.Join("testdata", c.file), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range s.Len() {
			conv := s.Conversation(i)
			var b strings.Builder
			b.WriteString(conv.ID + ":")
			for _, turn := range conv.Turns {
				b.WriteString(" [")
				if turn.Timestamp != nil {
					fmt.Fprintf(&b, "at %.6g ", *turn.Timestamp)
				}
				if turn.Delay != nil {
					fmt.Fprintf(&b, "after %.6g ", *turn.Delay)
				}
				fmt.Fprintf(&b, "%d %q %s]", *turn.MaxTokens, turn.Contents()[0], turn.ExtraBody)
			}
			got = append(got, b.String())
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if _, err := Open("testdata/noprompt.parquet", base("")); err == nil || !strings.Contains(err.Error(), "columns prompt are missing; the table has timestamp_start_unix_ms") {
		t.Error(err)
	}
	shares := map[int]bool{}
	for seed := range uint64(12) {
		o := base("baseten_trace")
		o.Root, o.Columnar.Share = seeded(seed), 0.5
		s, err := Open("testdata/baseten.parquet", o)
		if err != nil {
			t.Fatal(err)
		}
		shares[s.Len()] = true
	}
	if len(shares) < 2 || shares[0] {
		t.Errorf("sessions of a half: %v", shares)
	}
}
