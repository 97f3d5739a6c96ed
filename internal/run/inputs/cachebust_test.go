package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/load"
)

func dialogue() *conversation.Conversation {
	return &conversation.Conversation{ID: "c", System: "sys", Turns: []conversation.Turn{{Parts: conversation.Texts("text", "first", "second")}, {Parts: conversation.Texts("text", "later")}}}
}

// TestMarkers: where each target puts its marker, and that the conversation itself stays as it was.
func TestMarkers(t *testing.T) {
	rid := `\[rid:[0-9a-f]{12}\]`
	for target, want := range map[string]string{
		"system_prefix": "^" + rid + "\n\nsys/first/second/later$", "system_suffix": "^sys\n\n" + rid + "/first/second/later$",
		"first_turn_prefix": "^sys/" + rid + "\n\nfirst/second/later$", "first_turn_suffix": "^sys/first/second\n\n" + rid + "/later$",
		"warmup_isolation_system": "^\\[warmup\\]\n\nsys/first/second/later$", "warmup_isolation_first_turn": "^sys/\\[warmup\\]\n\nfirst/second/later$",
	} {
		b := &CacheBuster{target: target, benchmark: "run"}
		c := dialogue()
		m := b.MarkSession(&load.Session{Shape: load.Shape{ID: "c"}}, true, c)
		text := m.System + "/" + strings.Join(append(m.Turns[0].Contents(), m.Turns[1].Contents()...), "/")
		if !regexp.MustCompile(want).MatchString(text) || c.System != "sys" || c.Turns[0].Parts[0].Text != "first" {
			t.Errorf("%s: %q, conversation %+v", target, text, c)
		}
		if WarmupOnly(target) != (b.MarkSession(&load.Session{}, false, c) == c) {
			t.Errorf("%s: the measured phase", target)
		}
	}
}

// TestMarkersDiffer: every session of a run has its own, a session and what it starts have the same one, and it is that of the contract.
func TestMarkersDiffer(t *testing.T) {
	b := &CacheBuster{target: "first_turn_prefix", benchmark: "run"}
	of := func(s *load.Session) string { return b.MarkSession(s, false, dialogue()).Turns[0].Parts[0].Text }
	root := &load.Session{Conversation: 3, Shape: load.Shape{ID: "c"}}
	first, child := of(root), of(&load.Session{Conversation: 4, Parent: root})
	sum := sha256.Sum256([]byte("run:0:3:c"))
	if first != child || first != "[rid:"+hex.EncodeToString(sum[:6])+"]\n\nfirst" {
		t.Errorf("%q %q", first, child)
	}
	if again := of(&load.Session{Conversation: 3, Pass: 1, Shape: load.Shape{ID: "c"}}); again == first {
		t.Errorf("the second pass has the marker of the first: %q", again)
	}
}

// TestMarkedMessages: ready messages are marked as text or as a part, and nothing else of them changes.
func TestMarkedMessages(t *testing.T) {
	for _, c := range [][3]string{
		{"first_turn_prefix", `{"content" : "user", "role":"user","x":1.0}`, `^\{"content" : "\[rid:\w+\]\\n\\nuser", "role":"user","x":1\.0\}$`},
		{"first_turn_suffix", `{"role":"user","content":[{"type":"text","text":"a"}]}`, `^\{"role":"user","content":\[\{"type":"text","text":"a"\},\{"text":"\[rid:\w+\]","type":"text"\}\]\}$`},
		{"system_prefix", `{"role":"system","content":"s"}`, `"content":"\[rid:\w+\]\\n\\ns"`},
		{"first_turn_prefix", `{"role":"assistant","content":"s"}`, `^\{"role":"assistant","content":"s"\}$`},
		{"first_turn_prefix", `{"role":"user","content":5}`, `^\{"role":"user","content":5\}$`},
	} {
		b := &CacheBuster{target: c[0], benchmark: "run"}
		conv := &conversation.Conversation{Turns: []conversation.Turn{{RawMessages: []json.RawMessage{[]byte(c[1])}}}}
		if got := b.MarkSession(&load.Session{}, false, conv).Turns[0].RawMessages[0]; !regexp.MustCompile(c[2]).Match(got) || string(conv.Turns[0].RawMessages[0]) != c[1] {
			t.Errorf("%s %s: %s", c[0], c[1], got)
		}
	}
}

// TestMarkersKeepTheLength: a generated text and its marker count exactly what was asked for, whatever the digits of the marker count.
func TestMarkersKeepTheLength(t *testing.T) {
	words, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	d := &config.Dataset{Type: config.DatasetSynthetic, CacheBust: &config.CacheBust{Target: "first_turn_suffix"}}
	b, err := NewCacheBuster(d, true, "run", func() (*tokenizer.Tokenizer, error) { return words, nil })
	if err != nil || b.cost < 5 {
		t.Fatal(b, err)
	}
	const text = " ever but slenderly known himself GONERIL The best"
	for range 50 {
		c := &conversation.Conversation{Turns: []conversation.Turn{{Parts: conversation.Texts("text", text)}}}
		if got := b.MarkSession(&load.Session{}, false, c).Turns[0].Parts[0].Text; words.Count(got) != words.Count(text)+b.cost {
			t.Errorf("%q counts %d", got, words.Count(got))
		}
	}
}
