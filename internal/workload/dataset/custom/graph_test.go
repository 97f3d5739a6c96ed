package custom

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

const user = `{"role":"user","content":"x"}`

// TestGraph checks that sessions started by others come after those that can be drawn.
func TestGraph(t *testing.T) {
	s := open(t, `{"session_id":"k","turns":[{"messages":[`+user+`],"model":"zz","delay":20}]}
{"session_id":"r","turns":[{"messages":[`+user+`],"max_tokens":5,"tools":[{}],"forks":[{"child":"k","background":true}]},{"messages":[`+user+`],"spawns":["j"],"extra":{"a":1}}]}
{"session_id":"j","turns":[{"messages":[`+user+`]}]}
`, base(""))
	if want := []string{
		`r: ` + user + `[{}] max=5; ` + user + ` extra={"a":1}`, "k: " + user + " after=20", "j: " + user,
	}; !slices.Equal(lines(s), want) {
		t.Errorf("got %q, want %q", lines(s), want)
	}
	if f := s.Info(); f.Started != 2 || f.Turns != 4 || f.Type != "dag_jsonl" || len(f.Warnings) > 0 {
		t.Errorf("info %+v", f)
	}
	if got, want := fmt.Sprint(s.Timings(0)[0].Branches, s.Timings(0)[1].Branches), fmt.Sprintf("[{%d true 0 false}] [{%d false 0 false}]", dataset.FirstStarted, dataset.FirstStarted+1); got != want {
		t.Errorf("branches %s", got)
	}
	if models := s.Conversation(dataset.FirstStarted).Turns[0].Model; models != "zz" {
		t.Errorf("model %q", models)
	}
}

func TestGraphFaults(t *testing.T) {
	turn := func(rest string) string { return `"turns":[{"messages":[` + user + `]` + rest + `}]}` }
	chain := ""
	for i := range 20 { // two branches at every step: a million requests
		next := fmt.Sprintf(`{"messages":[%s],"spawns":["s%d"]}`, user, i+1)
		chain += fmt.Sprintf(`{"session_id":"s%d","turns":[%s,%s]}`, i, next, next) + "\n"
	}
	chain += `{"session_id":"s20",` + turn("")
	for _, c := range []struct{ content, want string }{
		{`{"session_id":"s",` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t",` + turn(`,"spawns":["s"]`), ":1: session_id: sessions start each other in a cycle: s -> t -> s"},
		{`{"session_id":"s",` + turn(`,"forks":["s"]`), "cycle: s -> s"},
		{`{"session_id":"s",` + turn(`,"forks":["zz"]`), `:1: turns[0].forks: the file has no session "zz"`},
		{`{"session_id":"s",` + turn(`,"spawns":[1]`), ":1: turns[0].spawns[0]: must be a string, got a number"},
		{`{"session_id":"s",` + turn(`,"temperature":1`), ":1: turns[0].temperature: unknown key; allowed are messages"},
		{`{"session_id":"s",` + turn(`,"max_tokens":true`), ":1: turns[0].max_tokens: must be an integer, got true"},
		{`{"session_id":"s","colour":1,` + turn(""), ":1: colour: unknown key"},
		{`{"session_id":"s","rounds":2,` + turn(""), ":1: rounds: is allowed only with orchestrator: true"},
		{`{"session_id":"s","orchestrator":true,` + turn(""), ":1: turns: is not allowed in an orchestrator"},
		{`{"session_id":"s","orchestrator":true}`, ":1: spawns: at least one session"},
		{`{"session_id":"s","orchestrator":1}`, ":1: orchestrator: must be true or false, got 1"},
		{`{"session_id":"s","orchestrator":true,"rounds":0,"spawns":["t"]}`, ":1: rounds: must be at least 1, got 0"},
		{`{"session_id":"s","orchestrator":true,"rounds":[]}`, ":1: rounds: at least one round"},
		{`{"session_id":"s","orchestrator":true,"rounds":[{"spawns":["t"]},{"spawns":["t"]}]}`, `rounds[1].spawns: "t" is also in another round`},
		{`{"session_id":"s","orchestrator":true,"spawns":["t"],"think_time_ms":5}`, "think_time_ms: needs rounds"},
		{`{"session_id":"s",` + turn(`,"forks":["t","t"]`), `turns[0].forks: "t" is used twice`},
		{`{"session_id":"s",` + turn(`,"forks":[{"child":"t"}]`) + "\n" + `{"session_id":"u",` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t",` + turn(""), `"t" is also forked in`},
		{`{"session_id":"s","turns":[{"messages":[` + user + `],"forks":["t"]},{"messages":[` + user + `]}]}` + "\n" + `{"session_id":"t",` + turn(""), "a session ends with its forks"},
		{`{"session_id":"s",` + turn(`,"forks":[{"kid":"t"}]`), "turns[0].forks[0].kid: unknown key; allowed are child, background"},
		{`{"session_id":"s",` + turn(`,"spawns":[{"children":["t"],"join_at":1}]`), "turns[0].spawns[0].join_at: must be a turn after this one"},
		{`{"session_id":"s",` + turn(`,"spawns":[{"children":[]}]`), "turns[0].spawns[0].children: at least one session"},
		{`{"session_id":"s","context_mode":"x",` + turn(""), ":1: context_mode: must be one of"},
		{`{"session_id":"s","turns":[{"messages":[` + user + `]},{"messages":[{"role":"system","content":"x"}]}]}`, "turns[1].messages: a system message is allowed only in the first turn"},
		{`{"session_id":"s","context_mode":"message_array_with_responses","turns":[{"messages":[` + user + `,{"role":"system","content":"x"}]}]}`, "must be the first of its turn"},
		{`{"session_id":"s",` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t","context_mode":"message_array_with_responses",` + turn(""), "which drops the history"},
		{`{"session_id":"s",` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t","turns":[{"messages":[{"role":"system","content":"x"}]}]}`, "begins with a system message"},
		{`{"session_id":"s","pre_session_spawns":["t"],` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t",` + turn(""), "is also forked"},
		{`{"session_id":"s","turns":[]}`, ":1: turns: at least one turn is needed"},
		{`{"session_id":"s","turns":[{}]}`, ":1: turns[0].messages: missing"},
		{`{` + turn(""), ":1: session_id: missing"},
		{`{"session_id":"s",` + turn("") + "\n\n" + `{"session_id":"s",` + turn(""), `:3: session_id: "s" is used twice`},
		{chain, "leads to more than 100000 requests"},
	} {
		for _, left := range []bool{false, true} { // rows in memory, then rows in their file
			t.Run("", func(t *testing.T) {
				if left {
					leave(t)
				}
				if _, err := Open(write(t, c.content), base("dag_jsonl")); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%.100q, left in the file %v: got %v, want %q", c.content, left, err, c.want)
				}
			})
		}
	}
}

// TestRounds checks that the turns of orchestrators send nothing. Each round waits for the previous one, then for the think time.
func TestRounds(t *testing.T) {
	kid := func(id string) string {
		return `{"session_id":"` + id + `","turns":[{"messages":[` + user + `]}]}` + "\n"
	}
	for rest, want := range map[string]string{
		`"spawns":["a","b"]`: "0:[{1 false 0 false} {2 false 0 false}]",
		`"spawns":["a","b"],"rounds":2,"think_time_ms":30`:                                  "30:[{1 false 1 false} {2 false 1 false}] 30:[{1 false 2 false} {2 false 2 false}] 0:[]",
		`"rounds":[{"spawns":["a"],"think_time_ms":7},{"spawns":["b"]}],"think_time_ms":30`: "7:[{1 false 1 false}] 30:[{2 false 2 false}] 0:[]",
	} {
		s := open(t, `{"session_id":"o","orchestrator":true,`+rest+"}\n"+kid("a")+kid("b"), base("dag_jsonl"))
		var got []string
		for _, turn := range s.Timings(0) {
			wait := 0.0
			if turn.Delay != nil {
				wait = *turn.Delay
			}
			for i := range turn.Branches {
				turn.Branches[i].Conversation = dataset.Position(turn.Branches[i].Conversation, s.Len())
			}
			got = append(got, fmt.Sprintf("%g:%v", wait, turn.Branches))
			if !turn.Silent {
				t.Errorf("%s: a turn sends something", rest)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", rest, text, want)
		}
	}
}

// TestThinkSpread checks that think times are distributed around their median within their bounds, and are the same for the same seed.
func TestThinkSpread(t *testing.T) {
	kid := `{"session_id":"a","turns":[{"messages":[` + user + `]}]}`
	session := func(rest string) string {
		return `{"session_id":"o","orchestrator":true,"spawns":["a"],"rounds":999,"think_time_ms":100,"think_time_sigma":0.5` + rest + "}\n" + kid
	}
	times := func(rest string) (list []float64) {
		for _, turn := range open(t, session(rest), base("dag_jsonl")).Timings(0)[:999] {
			list = append(list, *turn.Delay)
		}
		return list
	}
	plain, again := times(""), times("")
	if !slices.Equal(plain, again) {
		t.Error("two draws of one seed differ")
	}
	slices.Sort(plain)
	// quartiles of a log-normal distribution: median e^(±0.674 sigma)
	for i, want := range map[int]float64{249: 71.4, 499: 100, 748: 140.1} {
		if math.Abs(plain[i]-want) > want/10 {
			t.Errorf("quantile %d: %g, want about %g", i, plain[i], want)
		}
	}
	bounded := times(`,"think_time_min_ms":90,"think_time_max_ms":110`)
	if slices.Min(bounded) != 90 || slices.Max(bounded) != 110 {
		t.Errorf("%g to %g", slices.Min(bounded), slices.Max(bounded))
	}
	for rest, want := range map[string]string{
		`"think_time_sigma":1`: "think_time_sigma: needs think_time_ms", `"think_time_ms":5,"think_time_min_ms":1`: "need think_time_sigma",
		`"think_time_ms":5,"think_time_sigma":1,"think_time_min_ms":9,"think_time_max_ms":2`: "think_time_min_ms: must be at most think_time_max_ms 2, got 9",
	} {
		_, err := Open(write(t, `{"session_id":"o","orchestrator":true,"spawns":["a"],"rounds":2,`+rest+"}\n"+kid), base("dag_jsonl"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rest, err)
		}
	}
}

// TestGraphDrawn checks that sessions started by others are not drawn, also if rows stay in their file.
func TestGraphDrawn(t *testing.T) {
	leave(t)
	s := open(t, `{"session_id":"r","turns":[{"messages":[`+user+`],"spawns":["k"]}]}`+"\n"+`{"session_id":"k","turns":[{"messages":[`+user+`]}]}`, base(""))
	if ok, err := s.(dataset.OpenEnded).Reach(1); ok || err != nil || s.Len() != 1 || s.ID(dataset.FirstStarted) != "k" {
		t.Errorf("%v %v, %d drawn", ok, err, s.Len())
	}
}

// TestRootSessionsAreCounted counts the sessions that no fork, spawn or pre-session spawn names. An unreadable file has none.
func TestRootSessionsAreCounted(t *testing.T) {
	for text, want := range map[string]int{
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"spawns":["b"]},{"messages":[{"role":"user","content":"x"}]}]}
{"session_id":"b","turns":[{"messages":[{"role":"user","content":"x"}],"forks":["c"]}]}
{"session_id":"c","turns":[{"messages":[{"role":"user","content":"x"}]}]}
{"session_id":"d","pre_session_spawns":["e"],"turns":[{"messages":[{"role":"user","content":"x"}]}]}
{"session_id":"e","turns":[{"messages":[{"role":"user","content":"x"}]}]}`: 2,
		`{"session_id":"a"}`: 0,
	} {
		path := filepath.Join(t.TempDir(), "graph.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := RootSessions(path); got != want {
			t.Errorf("%d root sessions, want %d: %s", got, want, text)
		}
	}
}
