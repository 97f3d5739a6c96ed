//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"aiperf/internal/base/testhome"
)

// steering is what a terminal obeys: escape, title, eight-bit control, the direction of writing, backspace, a lone carriage return.
const steering = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp.exe\b\r"

// TestNothingSteersTheTerminal: whatever a server, a file or a name holds, what the program says and the files for people are plain text.
func TestNothingSteersTheTerminal(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wire := strings.NewReplacer("\r", "", "\n", "").Replace(steering)
	evilName := write("\x1b[31mevil\u202e.jsonl", `{"text":"x","`+strings.ReplaceAll(wire, "\x1b", `\u001b`)+`":1}`+"\n{bad "+steering+"}\n")
	runs := map[string][]string{
		"reason phrase":  {"--url", says(t, "HTTP/1.1 500 Oh "+wire+"\r\nContent-Length: 0\r\n\r\n"), "--model", "m"},
		"error body":     {"--url", says(t, "HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n"+steering), "--model", "m"},
		"bad header":     {"--url", says(t, "HTTP/1.1 200 OK\r\n"+wire+" : x\r\n\r\n"), "--model", "m"},
		"no HTTP":        {"--url", says(t, steering+"\r\n\r\n"), "--model", "m"},
		"location":       {"--url", says(t, "HTTP/1.1 302 Found\r\nLocation: /"+wire+"\r\nContent-Length: 0\r\n\r\n"), "--model", "m"},
		"names":          {"--url", says(t, sse+"Content-Length: 5\r\n\r\ndata:"), "--model", "m" + steering, "--slice-duration", "1"},
		"unknown flag":   {"--" + steering, "1"},
		"bad value":      {"--url", steering, "--concurrency", steering, "--header", steering, "--extra-inputs", steering, "--tokenizer", steering},
		"file":           {"--url", "mock://", "--model", "m", "--input-file", evilName},
		"no such file":   {"--url", "mock://", "--model", "m", "--input-file", dir + "/" + steering},
		"unknown key":    {"--config", write("a.yaml", "\"\\e[2J\\u202E\": 1\nbenchmark: {x\u202e: 1}\n")},
		"broken YAML":    {"--config", write("b.yaml", "a: [\u202e\n\t- x: {")},
		"wrong YAML":     {"--config", write("c.yaml", "random_seed: \"\\e]0;x\\a\"\nbenchmark: {phases: [{concurrency: \"\\e[2J\"}]}\n")},
		"no such config": {"--config", dir + "/" + steering},
	}
	for name, args := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(strings.Join(args, " "), "--tokenizer") {
				args = append(args, "--tokenizer", "builtin")
			}
			p := program(t, append(args, "--request-count", "2", "-vv")...)
			p.run()
			plain(t, "stdout", p.stdout.String())
			plain(t, "stderr", p.stderr.String())
			for _, file := range []string{"profile_export_console.txt", "logs/aiperf.log"} {
				if text, err := os.ReadFile(filepath.Join(p.dir, file)); err == nil {
					plain(t, file, string(text))
				}
			}
			if p.stderr.String() == "" {
				t.Error("it says nothing")
			}
		})
	}
}

// plain fails for every character that is not meant to be seen.
func plain(t *testing.T, where, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			t.Errorf("%s holds %q: %.80q", where, r, text[max(0, i-40):])
			return
		}
	}
}
