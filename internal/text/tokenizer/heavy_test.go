package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/budget"
	"aiperf/internal/base/testhome"
)

// heavyFile writes a tokenizer.json with a normalizer and a pre-tokenizer and gives its path.
func heavyFile(t *testing.T, normalizer, pretokenizer any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"version": "1.0", "added_tokens": []any{}, "normalizer": normalizer, "pre_tokenizer": pretokenizer,
		"model": map[string]any{"type": "BPE", "vocab": map[string]int{"a": 0, "b": 1, "!": 2, " ": 3}, "merges": []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHeavyPatterns: a pattern that would try every way to cut a text is refused when its file is read.
func TestHeavyPatterns(t *testing.T) {
	testhome.Slow(t)
	for _, pattern := range []string{
		`(a+)+$`, `(a|a)*b`, `(a|aa)+$`, `(.*)*x`, `(\w+\s?)*$`, `(?:(?:a*)*)*b`, `a*a*a*a*a*b`, `(?=(a+)+b)a`, `(1+)+x`, `(\s+)+x`, `(?:\p{Han}+)+x`, `(ab)*(ab)*(ab)*c`,
	} {
		for _, kind := range []string{"Split", "Replace"} {
			part := map[string]any{"type": kind, "pattern": map[string]any{"Regex": pattern}, "behavior": "Isolated", "content": "-"}
			var n, p any = nil, part
			if kind == "Replace" {
				n, p = part, nil
			}
			_, err := openLocal(heavyFile(t, n, p))
			if err == nil || !strings.Contains(err.Error(), "steps, so the patterns or normalizers of its file cannot be used") {
				t.Errorf("%s %s: %v", kind, pattern, err)
			}
		}
	}
}

// TestHeavyNormalizers: rules that blow a text up end where its memory ends.
func TestHeavyNormalizers(t *testing.T) {
	repeat := func(kind string, n int) any {
		var list []any
		for range n {
			list = append(list, map[string]any{"type": "Replace", "pattern": map[string]any{kind: "a"}, "content": strings.Repeat("a", 100)})
		}
		return map[string]any{"type": "Sequence", "normalizers": list}
	}
	for name, n := range map[string]any{"text": repeat("String", 6), "pattern": repeat("Regex", 6), "nested": map[string]any{"type": "Sequence", "normalizers": []any{repeat("String", 3), repeat("String", 3)}}} {
		if _, err := openLocal(heavyFile(t, n, nil)); err == nil || !strings.Contains(err.Error(), "builds more than 64 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ten := map[string]any{"type": "Replace", "pattern": map[string]any{"String": "a"}, "content": strings.Repeat("a", 10)}
	if _, err := openLocal(heavyFile(t, ten, nil)); err != nil {
		t.Errorf("a normalizer that makes a text 10 times as long: %v", err)
	}
}

// TestTextBeyondItsLimits: the ids of a text that is too heavy are an error that stays; within given limits it is one of the text.
func TestTextBeyondItsLimits(t *testing.T) {
	tok, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := tok.CountWithin(budget.Limits{Steps: 1 << 20}, strings.Repeat("a", 1<<20)); err == nil || n != -1 || err.Error() != "a text of 1048576 bytes needs more than 1048576 steps" {
		t.Errorf("%d, %v", n, err)
	}
	asked := 0
	stop := func() bool { asked++; return asked > 5 }
	if n, err := tok.CountWithin(budget.Limits{Stop: stop}, strings.Repeat("a", 4<<20)); err == nil || n != -1 || !strings.Contains(err.Error(), "was interrupted") {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := tok.CountWithin(budget.Limits{}, strings.Repeat("a", 1<<16)); err != nil || n != tok.Count(strings.Repeat("a", 1<<16)) || tok.Err() != nil {
		t.Errorf("%d, %v", n, err)
	}
	late, err := openLocal(heavyFile(t, nil, map[string]any{"type": "Split", "pattern": map[string]any{"Regex": `(b+)+!b`}, "behavior": "Isolated"}))
	if err != nil {
		t.Fatal(err)
	}
	if late.Count("ab") != 2 || late.Err() != nil {
		t.Error(late.Err())
	}
	late.Count(strings.Repeat("b", 5000))
	if err := late.Err(); err == nil || !strings.Contains(err.Error(), "a text of 5000 bytes needs more than") {
		t.Error(err)
	}
	if ids := late.Append(nil, "ab"); len(ids) != 0 {
		t.Errorf("%d ids after the error", len(ids))
	}
}

// TestLargeVocabularies: a vocabulary beyond all published ones is refused by its number of entries, in every format.
func TestLargeVocabularies(t *testing.T) {
	testhome.Slow(t)
	var object, ranks, words strings.Builder
	for i := range 1_500_002 {
		fmt.Fprintf(&object, `,"%d":%d`, i, i)
		fmt.Fprintf(&ranks, "%s %d\n", base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, uint32(i))), i)
		fmt.Fprintf(&words, "%d\n", i)
	}
	for name, text := range map[string]string{
		"tokenizer.json": `{"model":{"type":"BPE","merges":[],"vocab":{` + object.String()[1:] + `}}}`, "cl100k_base.tiktoken": ranks.String(), "vocab.txt": words.String(),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openLocal(path); err == nil || !strings.Contains(err.Error(), "more than 1500000 tokens") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIrregularFiles: a device is not a tokenizer file. It is not read, whatever its name.
func TestIrregularFiles(t *testing.T) {
	for _, name := range []string{"tokenizer.json", "tokenizer.model", "tekken.json", "x.tiktoken", "vocab.txt", "x.gguf"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(os.DevNull, path); err != nil {
			t.Skip(err) // a system without links
		}
		if _, err := openLocal(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
