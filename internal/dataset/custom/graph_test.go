package custom

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const user = `{"role":"user","content":"x"}`

// TestGraph: sessions that others start stand behind those that are drawn.
func TestGraph(t *testing.T) {
	s := open(t, `{"session_id":"k","turns":[{"messages":[`+user+`],"model":"zz","delay":20}]}
{"session_id":"r","turns":[{"messages":[`+user+`],"max_tokens":5,"tools":[{}],"forks":["k"]},{"messages":[`+user+`],"spawns":["k","j"],"extra":{"a":1}}]}
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
	if got := fmt.Sprint(s.Timings(0)[0].Branches, s.Timings(0)[1].Branches); got != "[{1 true}] [{1 false} {2 false}]" {
		t.Errorf("branches %s", got)
	}
	if models := s.Conversation(1).Turns[0].Model; models != "zz" {
		t.Errorf("model %q", models)
	}
}

func TestGraphFaults(t *testing.T) {
	turn := func(rest string) string { return `"turns":[{"messages":[` + user + `]` + rest + `}]}` }
	chain := ""
	for i := range 20 { // two ways at every step: a million requests
		chain += fmt.Sprintf(`{"session_id":"s%d",`, i) + turn(fmt.Sprintf(`,"forks":["s%d","s%d"]`, i+1, i+1)) + "\n"
	}
	chain += `{"session_id":"s20",` + turn("")
	for _, c := range []struct{ content, want string }{
		{`{"session_id":"s",` + turn(`,"forks":["t"]`) + "\n" + `{"session_id":"t",` + turn(`,"spawns":["s"]`), ":1: session_id: sessions start each other in a cycle: s -> t -> s"},
		{`{"session_id":"s",` + turn(`,"forks":["s"]`), "cycle: s -> s"},
		{`{"session_id":"s",` + turn(`,"forks":["zz"]`), `:1: turns[0].forks: "zz" is no session of the file`},
		{`{"session_id":"s",` + turn(`,"spawns":[1]`), ":1: turns[0].spawns[0]: must be a string, got a number"},
		{`{"session_id":"s",` + turn(`,"temperature":1`), ":1: turns[0].temperature: unknown key; allowed are messages"},
		{`{"session_id":"s",` + turn(`,"max_tokens":true`), ":1: turns[0].max_tokens: must be an integer, got true"},
		{`{"session_id":"s","colour":1,` + turn(""), ":1: colour: unknown key"},
		{`{"session_id":"s","rounds":2,` + turn(""), ":1: rounds: not built yet"},
		{`{"session_id":"s","turns":[]}`, ":1: turns: at least one turn is needed"},
		{`{"session_id":"s","turns":[{}]}`, ":1: turns[0].messages: missing"},
		{`{` + turn(""), ":1: session_id: missing"},
		{`{"session_id":"s",` + turn("") + "\n\n" + `{"session_id":"s",` + turn(""), `:3: session_id: "s" is there twice`},
		{chain, "leads to more than 100000 requests"},
	} {
		if _, err := Open(write(t, c.content), base("dag_jsonl")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100q: got %v, want %q", c.content, err, c.want)
		}
	}
}
