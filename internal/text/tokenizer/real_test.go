package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/testhome"
)

// realTokenizers are the vocabularies in testdata: GPT-2 (MIT), Qwen2.5 and BERT (Apache-2.0), and our own Unigram model, trained
// on a text in the public domain, in the shape of XLM-R.
var realTokenizers = []string{"gpt2", "qwen2_5", "bert", "unigram", "builtin"}

// sonnet is prose with a little of everything.
const sonnet = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: rough winds do shake the darling buds of May, " +
	"And summer's lease hath all too short a date; 1609 — naïve “quotes”, 漢字かな, Ελληνικά, emoji 👩‍👩‍👧 and\ttabs\n\n\n  too."

func unpack(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err = d.DecodeAll(b, nil); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

var opened sync.Map // name -> *Tokenizer: loading takes longer than using

// openTest opens one of realTokenizers from a file.
func openTest(t testing.TB, name string) *Tokenizer {
	t.Helper()
	if name == "builtin" {
		return mustBuiltin(t)
	}
	if tk, ok := opened.Load(name); ok {
		return tk.(*Tokenizer)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, unpack(t, name+".json"), 0o644); err != nil {
		t.Fatal(err)
	}
	tk, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(name, tk)
	return tk
}

// answers is what the reference library gave for texts, by tokenizer.
type answers struct {
	Texts   []string
	Answers map[string]struct {
		IDs   [][]int32
		Text  []string
		Added int
	}
}

func readAnswers(t testing.TB) (a answers) {
	t.Helper()
	if err := json.Unmarshal(unpack(t, "answers.json"), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestReferenceAnswers compares ids, counts and decoded texts with those that the reference library gave for 1,500 texts: many
// scripts, NFD, emoji, Unicode 16, white space, special tokens, random code points.
func TestReferenceAnswers(t *testing.T) {
	file := readAnswers(t)
	if len(file.Texts) < 1000 || len(file.Answers) != 4 {
		t.Fatalf("%d texts, %d tokenizers", len(file.Texts), len(file.Answers))
	}
	for name, want := range file.Answers {
		tk := openTest(t, name)
		if tk.NumSpecialAdded() != want.Added {
			t.Errorf("%s adds %d special tokens, want %d", name, tk.NumSpecialAdded(), want.Added)
		}
		bad := 0
		for i, s := range file.Texts {
			got := tk.Append(nil, s)
			if !slices.Equal(got, want.IDs[i]) || tk.Count(s) != len(got) {
				if bad++; bad < 4 {
					t.Errorf("%s: ids of %.100q\n got %v\nwant %v", name, s, got, want.IDs[i])
				}
			}
			if back := tk.Decode(want.IDs[i]); back != want.Text[i] {
				if bad++; bad < 4 {
					t.Errorf("%s: text of %.100q\n got %.200q\nwant %.200q", name, s, back, want.Text[i])
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d texts differ", name, bad, len(file.Texts))
		}
	}
}

func TestRecordedVectors(t *testing.T) {
	for _, name := range []string{"gpt2", "qwen2_5"} {
		t.Run(name, func(t *testing.T) { checkVectors(t, openTest(t, name), name) })
	}
}

// Byte-level tokenizers give every text back.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"gpt2", "builtin"} {
		tk := openTest(t, name)
		for _, v := range vectors(t) {
			if got := tk.Decode(tk.Append(nil, v.Text)); got != v.Text {
				t.Errorf("%s: %q came back as %q", name, v.Text, got)
			}
		}
	}
}

func TestInvalidUTF8CountsAsReplacements(t *testing.T) {
	for _, name := range realTokenizers {
		tk := openTest(t, name)
		for bad, good := range map[string]string{"a\xf0\x9fb": "a\ufffdb", "\xff\xfe": "\ufffd\ufffd", "x\xe2\x98": "x\ufffd"} {
			if a, b := tk.Append(nil, bad), tk.Append(nil, good); !slices.Equal(a, b) {
				t.Errorf("%s: %q gives %v, %q gives %v", name, bad, a, good, b)
			}
		}
	}
}

// Many goroutines share one tokenizer and its cache.
func TestConcurrentUse(t *testing.T) {
	for _, name := range []string{"builtin", "qwen2_5", "unigram", "bert"} {
		tk := openTest(t, name)
		all := vectors(t)[:80]
		want := make([][]int32, len(all))
		for i, v := range all {
			want[i] = tk.Append(nil, v.Text)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range all {
					k := (i*7 + g*13) % len(all)
					if got := tk.Append(nil, all[k].Text); !slices.Equal(got, want[k]) {
						t.Errorf("%s: %q differs under load", name, all[k].Text)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	tk := mustBuiltin(t)
	tk.Count(sonnet)
	if n := testing.AllocsPerRun(50, func() { tk.Count(sonnet) }); n > 0 && !testhome.RaceDetector {
		t.Errorf("Count allocates %.0f times", n)
	}
}

// worst are texts on which a naive implementation takes minutes.
var worst = map[string]string{
	"letter a": strings.Repeat("a", 1<<20), "spaces": strings.Repeat(" ", 1<<20), "newlines": strings.Repeat("\n", 1<<20),
	"emoji": strings.Repeat("👍", 1<<18), "marks": strings.Repeat("!=", 1<<19), "ideographs": strings.Repeat("漢字仮名", 1<<20/12),
}

func BenchmarkWorst(b *testing.B) {
	for _, name := range realTokenizers {
		for what, s := range worst {
			b.Run(name+"/"+what, func(b *testing.B) {
				tk := openTest(b, name)
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					tk.Count(s)
				}
			})
		}
	}
}

// prose is about 100 kB of English in pieces of 4 kB.
func prose(b *testing.B) (pieces []string, size int) {
	b.Helper()
	text, err := os.ReadFile("testdata/prose.txt")
	if err != nil {
		b.Fatal(err)
	}
	for len(text) > 0 {
		n := min(4096, len(text))
		pieces, size, text = append(pieces, string(text[:n])), size+n, text[n:]
	}
	return pieces, size
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range realTokenizers {
		b.Run(name, func(b *testing.B) {
			tk := openTest(b, name)
			pieces, size := prose(b)
			var ids []int32
			tokens := 0
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, p := range pieces {
					ids = tk.Append(ids[:0], p)
					tokens += len(ids)
				}
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds()/1e6, "Mtok/s")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range realTokenizers {
		b.Run(name, func(b *testing.B) {
			tk := openTest(b, name)
			pieces, size := prose(b)
			var ids [][]int32
			for _, p := range pieces {
				ids = append(ids, tk.Append(nil, p))
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, x := range ids {
					_ = tk.Decode(x)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range realTokenizers[:4] {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "tokenizer.json")
			if err := os.WriteFile(path, unpack(b, name+".json"), 0o644); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Open(b.Context(), path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
