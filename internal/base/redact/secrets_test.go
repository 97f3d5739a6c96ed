package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

func TestSecretsLengths(t *testing.T) {
	for _, c := range []struct{ secret, in, want string }{
		{"sk-abc12345", "xsk-abc12345y", "x<redacted>y"},
		{"12345678", "at 1712345678 or 12345678.5, 12345678", "at 1712345678 or 12345678.5, <redacted>"},
		{"EMPTY", "EMPTY, not-EMPTY EMPTYING (EMPTY)", "<redacted>, not-EMPTY EMPTYING (<redacted>)"},
		{"SECRET", "you sent SECRET!", "you sent <redacted>!"},
		{"none", "none", "none"},
		{"dummy", "a dummy", "a dummy"},
		{"S2", "S2", "S2"},
		{"", "x", "x"},
		{"a/b+c d%7", "a%2Fb%2Bc+d%257 a%2fb%2bc+d%257 a/b+c d%7", "<redacted> <redacted> <redacted>"},
		{"p\"w\\x'12", `p"w\x'12 p""w\x'12 p\"w\\x'12`, "<redacted> <redacted> <redacted>"},
	} {
		if got := NewSecrets(c.secret).Values(c.in); got != c.want {
			t.Errorf("%q: %q becomes %q, want %q", c.secret, c.in, got, c.want)
		}
	}
	if got := NewSecrets("sk-abcdefg", "sk-abcdefghij").Values("sk-abcdefghij sk-abcdefg"); got != "<redacted> <redacted>" {
		t.Errorf("of two that begin alike: %q", got)
	}
	var nobody *Secrets
	nobody.Add("sk-abc12345")
	if got := nobody.Text("sk-abc12345 token=x"); got != "sk-abc12345 token=<redacted>" {
		t.Errorf("nil: %q", got)
	}
}

// TestBegun: a possible beginning of a secret is not shown yet.
func TestBegun(t *testing.T) {
	s := NewSecrets("sk-abcdefg", "sk-abcdefghij", "k-other-one")
	for text, want := range map[string]int{
		"": 0, "x": 0, "ask": 2, "sk-abcdefg": 10, "sk-abcdefghij": 0, "sk-abcdefghi": 12, "k-o": 3, "the sk-": 3, "s\nk-": 2,
	} {
		if got := s.PartialLength(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	var nobody *Secrets
	if nobody.PartialLength("sk-") != 0 {
		t.Error("nothing is known")
	}
}

func TestSecretsJSON(t *testing.T) {
	s := NewSecrets("sk-\"q\\12345", "name_of_key", "nabcdefgh", "12345678", "EMPTY")
	for in, want := range map[string]string{
		`{"a":"x sk-\"q\\12345 y","n":12345678}`:                  `{"a":"x <redacted> y","n":12345678}`,
		`{"text":"{\"key\":\"sk-\\\"q\\\\12345\"}"}`:              `{"text":"{\"key\":\"<redacted>\"}"}`,
		`{"name_of_key":"name_of_key","sk-\"q\\12345" : "EMPTY"}`: `{"name_of_key":"<redacted>","<redacted>" : "<redacted>"}`,
		`{"a":"\nabcdefgh"}`:                                      `{"a":"\nabcdefgh"}`,
		`{"a":"nabcdefgh","b":"é\u0001nabcdefgh"}`:                `{"a":"<redacted>","b":"é\u0001<redacted>"}`,
		`{"EMPTY":null,"b":[true,"none"]}`:                        `{"EMPTY":null,"b":[true,"none"]}`,
		`{"a":"12345678`:                                          `{"a":"12345678`,
	} {
		got := string(s.JSON([]byte(in)))
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestManySecrets: above a few values the one-pass search finds the same.
func TestManySecrets(t *testing.T) {
	testhome.Slow(t)
	s := NewSecrets()
	var text, want strings.Builder
	for i := range 500 {
		s.Add(fmt.Sprintf("key-%06d-x/%d", i*7919, i))
		fmt.Fprintf(&text, "[key-%06d-x/%d]", i*7919, i)
		want.WriteString("[<redacted>]")
	}
	if got := s.Values(text.String()); got != want.String() {
		t.Errorf("%.300q", got)
	}
	if got := string(s.JSON([]byte(`{"a":"plain key-text"}`))); got != `{"a":"plain key-text"}` {
		t.Errorf("%s", got)
	}
}

func TestWhatGivesSecretsAway(t *testing.T) {
	for _, c := range []struct{ got, want []string }{
		{HeaderSecrets("Authorization", "Bearer K1"), []string{"Bearer K1", "K1"}},
		{HeaderSecrets("Authorization", "Basic dTpwYXNz"), []string{"Basic dTpwYXNz", "dTpwYXNz", "u:pass", "pass"}},
		{HeaderSecrets("X-Request-ID", "abc"), nil},
		{URLSecrets("http://u:p%40ss@h/v1?token=a%2Fb&a=c#x"), []string{"p%40ss", "p@ss", "u:p%40ss", "dTpwQHNz", "a%2Fb", "a/b"}},
		{URLSecrets("https://tok@h"), []string{"tok", "tok", "OnRvaw=="}},
		{URLSecrets("/v1?KEY=abc"), []string{"abc"}},
		{URLSecrets("h:8000"), nil},
		{MemberSecrets("api_key", json.RawMessage(`"K"`)), []string{"K"}},
		{MemberSecrets("x", json.RawMessage(`{"a":[{"client_secret":["K",1]}],"max_tokens":5,"token":"T"}`)), []string{"K", "T"}},
		{ArgSecrets([]string{"--api-key=K1", "-H", "X-API-Key: K2", `{"Authorization":"K3"}`, "-u", "http://a,http://u:K4@h", "--extra-inputs",
			"api_key:K5,b:1", `{"secret":"K6"}`, "-m", "x"}, someKinds),
			[]string{"K1", "K2", "K3", "K4", "u:K4", "dTpLNA==", "K5", "K6"}},
	} {
		slices.Sort(c.got)
		slices.Sort(c.want)
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestExtraArgs(t *testing.T) {
	for in, want := range map[string]string{
		"--extra-inputs|api_key:K,b:1":                    "--extra-inputs|api_key:<redacted>,b:1",
		`--extra-inputs|{"api_key":"K","b":1.50,"a":[1]}`: `--extra-inputs|{"a":[1],"api_key":"<redacted>","b":1.50}`,
		`--extra-inputs|{"b": 1}`:                         `--extra-inputs|{"b": 1}`,
		`--extra-inputs={"api_key":`:                      "--extra-inputs=<redacted>",
		`--extra-inputs|["token:K","b:2"]`:                `--extra-inputs|["token:<redacted>","b:2"]`,
		"--extra-inputs|max_tokens:5|--b|api_key:x":       "--extra-inputs|max_tokens:5|--b|api_key:x",
	} {
		want = strings.ReplaceAll(want, "=<redacted>", `="<redacted>"`)
		if got := strings.Join(Args(strings.Split(in, "|"), someKinds), "|"); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestTextInPaths(t *testing.T) {
	for in, want := range map[string]string{
		`no route for POST /v1/x?a=1&KEY=abc&sig=d/e "end"`: `no route for POST /v1/x?a=1&KEY=<redacted>&sig=<redacted> "end"`,
		"sort key=value": "sort key=value",
		"/login?next=/a": "/login?next=/a",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Header("Location", "https://h/login?api_key=abc"); got != "https://h/login?api_key=<redacted>" {
		t.Errorf("Location: %s", got)
	}
}

// FuzzSecrets: no credential is left in a text; what was JSON stays JSON of the same shape, and the value is in no string.
func FuzzSecrets(f *testing.F) {
	f.Add("x", "Authorization: Bearer SECRETVALUE")
	f.Add("x", "http://u:SECRETVALUE@h/?token=1")
	f.Add("sk-abcdef12", `{"a":"sk-abcdef12"}`)
	f.Add(`n"x\12345`, `{"n\"x\\12345":["n\"x\\12345"]}`)
	f.Fuzz(func(t *testing.T, secret, text string) {
		URL(text)
		Args(strings.Fields(text), someKinds)
		if out := Text("api_key=SECRETVALUE " + text); strings.HasPrefix(out, "api_key=SECRETVALUE") {
			t.Errorf("credential left in %q", out)
		}
		s := NewSecrets(secret)
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{text, `{"a":` + string(quoted) + `,"b":[1]}`} {
			got := s.JSON([]byte(in))
			if json.Valid([]byte(in)) && !json.Valid(got) {
				t.Errorf("%q in %q becomes %q", secret, in, got)
			}
		}
		s.Values(text)
	})
}

// BenchmarkSecretsLine looks through a line of 4 KB without a secret, with one value known and with a hundred.
func BenchmarkSecretsLine(b *testing.B) {
	line := []byte(`{"text":"` + strings.Repeat("the quick brown fox ", 200) + `"}`)
	for _, n := range []int{1, 100} {
		s := NewSecrets()
		for i := range n {
			s.Add(fmt.Sprintf("sk-%08d-abcdef", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				s.JSON(line)
			}
		})
	}
}
