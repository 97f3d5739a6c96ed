package custom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"aiperf/internal/base/testhome"
)

// TestHostileFiles checks that every format rejects files that are not data quickly, and names the position.
func TestHostileFiles(t *testing.T) {
	testhome.Slow(t)
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("{\"text\":\"a\"}\n")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	long := strings.Repeat("word ", 1<<19) // 2.5 MB
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	text := []string{"half a character", "deep list", "deep member", "a long line that ends too early", "a number", "two values", "HTML"} // a valid prompt if the user says that the file is text
	for name, content := range map[string]string{
		"NUL": "{\"text\":\"a\x00b\"}\n", "NULs": strings.Repeat("\x00", 4096), "UTF-16": string(wide), "not UTF-8": "{\"text\":\"\xff\xfe\"}\n",
		"half a character": `{"text":"\ud800"}`, "deep list": deep, "deep member": `{"text":` + deep + "}", "a long line that ends too early": `{"text":"` + long,
		"nothing": "", "blank lines": "\n\n \n", "a number": "1\n", "two values": `{"text":"a"}{"text":"b"}`, "HTML": "<html><body>404</body></html>\n",
	} {
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range builtTypes() {
			s, err := Open(path, agentsBase(format))
			if format == linesType && slices.Contains(text, name) {
				if err != nil || s.Len() != 1 {
					t.Errorf("%s as text: %v", name, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s as %q: %d conversations", name, format, s.Len())
				continue
			}
			if !strings.Contains(err.Error(), path) || len(err.Error()) > 4000 {
				t.Errorf("%s as %q: no place in %.300q", name, format, err)
			}
		}
	}
	if _, err := Open(write(t, "\xff\xff\xff\xff\x20\x00\x00\x00"), base("")); err == nil || !strings.Contains(err.Error(), "Arrow") {
		t.Errorf("a stream of Arrow that breaks off: %v", err)
	}
	for content, want := range map[string]string{
		"Timestamp,Request tokens,Response tokens\n1,\"2,3\n":                      ":2: ",
		"Timestamp,Request tokens,Response tokens\n1,2\"2,3\n":                     ":2: column",
		"Timestamp,Request tokens\n1,2\n":                                          ":1: columns Response tokens are missing",
		"Timestamp,Request tokens,Response tokens\n\"" + long[:5<<18] + "\",1,1\n": ":2: a row is longer than",
	} {
		if _, err := Open(write(t, content), base("burst_gpt_trace")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %.200v, want %s", content, err, want)
		}
	}
}
