package synth

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// What the Python tool sent for a command line: models, output lengths and texts of the bodies, and the token counts of the texts.
//
//go:embed testdata/golden.json.gz
var goldenFile []byte

type goldenCase struct {
	Name      string       `json:"name"`
	Cmd       string       `json:"cmd"`
	Requests  int          `json:"requests"`
	Bodies    []goldenBody `json:"bodies"` // all requests, or the first few
	Lengths   []int        `json:"lengths"`
	MaxTokens []*int       `json:"maxTokens"`
}

type goldenBody struct {
	Model string              `json:"model"`
	Max   int                 `json:"max"`
	Texts [][]json.RawMessage `json:"texts"` // role and contents of each message
}

type message struct {
	role  string
	texts []string
}

func (b goldenBody) messages(t *testing.T) []message {
	t.Helper()
	var out []message
	for _, raw := range b.Texts {
		var m message
		if err := json.Unmarshal(raw[0], &m.role); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw[1], &m.texts); err != nil {
			t.Fatal(err)
		}
		if m.role != "assistant" {
			out = append(out, m)
		}
	}
	return out
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(goldenFile))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

var builtin = sync.OnceValues(func() (*Corpus, error) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		return nil, err
	}
	return NewO200kCorpus(tok)
})

func testCorpus(t testing.TB) *Corpus {
	t.Helper()
	c, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// options parses the command line of a golden case.
func options(t *testing.T, c goldenCase) Options {
	t.Helper()
	o := base(t, 42)
	words := strings.Fields(strings.ReplaceAll(c.Cmd, "'You are terse.'", "You_are_terse."))
	requests, entries, sessions := 0, 0, 0
	var osl dataset.Distribution
	var models []string
	ranking := Rankings{Passages: dataset.Distribution{Mean: 10}, PassageTokens: dataset.Distribution{Mean: 128}, QueryTokens: dataset.Distribution{Mean: 32}}
	seeded, style, ratio, random := false, VLLM, "", false
	numbers := map[string]*int{
		"--isl": &o.ISL.Mean, "--isl-stddev": &o.ISL.StdDev, "--osl": &osl.Mean, "--osl-stddev": &osl.StdDev,
		"--request-count": &requests, "--num-dataset-entries": &entries, "--num-sessions": &sessions, "--num-conversations": &sessions,
		"--prompt-batch-size": &o.Batch, "--session-turns-mean": &o.Turns.Mean, "--session-turns-stddev": &o.Turns.StdDev,
		"--prefix-prompt-length": &o.Context.PrefixLength, "--prefix-prompt-pool-size": &o.Context.PrefixPool,
		"--shared-system-prompt-length": &o.Context.SharedSystem, "--user-context-prompt-length": &o.Context.User,
		"--rankings-passages-mean": &ranking.Passages.Mean, "--rankings-passages-stddev": &ranking.Passages.StdDev,
		"--rankings-passages-prompt-token-mean": &ranking.PassageTokens.Mean, "--rankings-passages-prompt-token-stddev": &ranking.PassageTokens.StdDev,
		"--rankings-query-prompt-token-mean": &ranking.QueryTokens.Mean, "--rankings-query-prompt-token-stddev": &ranking.QueryTokens.StdDev,
	}
	ignored := []string{"--url", "--tokenizer", "--ui", "--artifact-dir", "--concurrency", "--image-width-mean", "--image-height-mean"}
	for i := 0; i < len(words); i++ {
		flag := words[i]
		if flag == "--streaming" {
			continue
		}
		i++
		value := strings.Trim(words[i], "'")
		switch n := numbers[flag]; {
		case n != nil:
			v, err := strconv.Atoi(value)
			if err != nil {
				t.Fatalf("%s %s: %v", flag, value, err)
			}
			*n = v
		case flag == "-m":
			models = append(models, value)
		case flag == "--random-seed":
			o.Root, seeded = rng.NewDecimal(value), true
		case flag == "--prompt-corpus":
			random = value == "random"
		case flag == "--random-corpus-style":
			style = Style(value)
		case flag == "--random-range-ratio":
			ratio = value
		case flag == "--seq-dist":
			pairs, err := ParsePairs(value)
			if err != nil {
				t.Fatal(err)
			}
			o.Pairs = pairs
		case flag == "--system-prompt":
			o.Context.System = strings.ReplaceAll(value, "_", " ")
		case flag == "--endpoint-type":
			if strings.Contains(value, "rankings") {
				o.Rankings = &ranking
			}
		case !slices.Contains(ignored, flag):
			t.Fatalf("flag %s of case %s is not known to the test", flag, c.Name)
		}
	}
	if !seeded {
		o.Root = rng.New(nil)
	}
	if len(models) > 0 {
		o.Assignment.Models = models
	}
	if osl.Mean > 0 {
		o.Assignment.OSL = &osl
	}
	if random {
		o.Random, o.Corpus = randomWords(style), nil
	}
	if ratio != "" {
		r, err := ParseRatio(ratio, style)
		if err != nil {
			t.Fatal(err)
		}
		window := r.Window(o.ISL.Mean, osl.Mean, 0)
		o.Window = &window
	}
	o.Entries = max(requests, sessions)
	if entries > 0 {
		o.Entries = entries
	}
	return o
}

// randomWords returns the vocabulary of the built-in tokenizer for a style.
func randomWords(style Style) *Random {
	tok, err := tokenizer.Builtin()
	if err != nil {
		panic(err)
	}
	r := &Random{Tokenizer: tok, Vocabulary: Vocabulary{Size: tok.VocabSize()}}
	for id := range int32(tok.VocabSize()) {
		if tok.Known(id) {
			r.Vocabulary.All = append(r.Vocabulary.All, id)
			if style == SGLang || !tok.IsSpecial(id) {
				r.Vocabulary.Allowed = append(r.Vocabulary.Allowed, id)
			}
		}
	}
	return r
}

func base(t testing.TB, seed uint64) Options {
	c := testCorpus(t)
	return Options{
		Root: rng.New(&seed), Corpus: c, Entries: 1, Turns: dataset.Distribution{Mean: 1}, DelayRatio: 1,
		ISL: dataset.Distribution{Mean: 550}, Batch: 1, Assignment: dataset.Assignment{Models: []string{"test-model-x"}},
	}
}

// requests returns the requests of a run with one request at a time, without the answers.
func requests(s *Dataset, n int) (bodies [][]message, turns []conversation.Turn) {
	for i := 0; len(bodies) < n; i++ {
		c := s.Conversation(i % s.Len())
		var history []message
		if c.System != "" {
			history = append(history, message{"system", []string{c.System}})
		}
		if c.UserContext != "" {
			history = append(history, message{"user", []string{c.UserContext}})
		}
		for _, t := range c.Turns {
			for k, p := range t.Parts {
				role := "user"
				if p.Name != "text" {
					role = p.Name
				}
				if k > 0 && t.Parts[k-1].Name == p.Name {
					last := &history[len(history)-1]
					last.texts = append(last.texts, p.Text)
				} else {
					history = append(history, message{role, []string{p.Text}})
				}
			}
			bodies = append(bodies, slices.Clone(history))
			turns = append(turns, t)
		}
	}
	return bodies, turns
}

// TestGolden compares texts, models and lengths with those of the Python tool, byte for byte.
func TestGolden(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			s, err := New(options(t, c))
			if err != nil {
				t.Fatal(err)
			}
			got, turns := requests(s, c.Requests)
			if len(got) != c.Requests {
				t.Fatalf("%d requests, want %d", len(got), c.Requests)
			}
			wanted := c.Bodies
			if c.Name == "seed_42_conc" {
				wanted = sortedAs(t, wanted, got)
			}
			for i, body := range wanted {
				if want := body.messages(t); !slices.EqualFunc(got[i], want, equalMessage) {
					t.Fatalf("request %d:\n got %q\nwant %q", i, got[i], want)
				}
				maxTokens := 0
				if turns[i].MaxTokens != nil {
					maxTokens = *turns[i].MaxTokens
				}
				if maxTokens != body.Max {
					t.Errorf("request %d asks for %d tokens, want %d", i, maxTokens, body.Max)
				}
				if body.Model != "" && turns[i].Model != body.Model {
					t.Errorf("request %d goes to %s, want %s", i, turns[i].Model, body.Model)
				}
			}
			compareLengths(t, c, s, got, turns)
			if s.Inexact() != 0 {
				t.Errorf("%d prompts are not exact", s.Inexact())
			}
		})
	}
}

// compareLengths compares the lengths of all requests, including those without recorded bodies.
func compareLengths(t *testing.T, c goldenCase, s *Dataset, got [][]message, turns []conversation.Turn) {
	t.Helper()
	if len(c.Lengths) > 0 {
		var lengths []int
		for _, body := range got {
			for _, m := range body {
				for _, text := range m.texts {
					if m.role == "user" {
						lengths = append(lengths, s.opts.Corpus.tok.Count(text))
					}
				}
			}
		}
		want := slices.Clone(c.Lengths)
		if c.Name == "seed_42_conc" {
			slices.Sort(want)
			slices.Sort(lengths)
		}
		if !slices.Equal(lengths, want) {
			t.Errorf("token counts\n got %d\nwant %d", lengths, want)
		}
	}
	if len(c.MaxTokens) == len(turns) {
		for i, want := range c.MaxTokens {
			if (want == nil) != (turns[i].MaxTokens == nil) || want != nil && *want != *turns[i].MaxTokens {
				t.Errorf("request %d: output length differs", i)
			}
		}
	}
}

func equalMessage(a, b message) bool { return a.role == b.role && slices.Equal(a.texts, b.texts) }

// sortedAs sorts recorded bodies, which have any order, like ours.
func sortedAs(t *testing.T, bodies []goldenBody, like [][]message) []goldenBody {
	t.Helper()
	var out []goldenBody
	for _, want := range like {
		i := slices.IndexFunc(bodies, func(b goldenBody) bool { return slices.EqualFunc(b.messages(t), want, equalMessage) })
		if i < 0 {
			t.Fatalf("no recorded body has the text %q", want)
		}
		out = append(out, bodies[i])
	}
	return out
}
