package run

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

// loadRun runs with a file and returns inputs.json, and the problem.
func loadRun(t *testing.T, url, path, format string) (inputs string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	b := whole(dir, url, 4)
	d := b.Dataset()
	d.Type, d.Path, d.Format, d.Prompts, d.Entries = config.DatasetFile, path, format, nil, 0
	seed := config.Seed("7")
	if _, err := Run(t.Context(), b, &seed, Options{Err: io.Discard}); err != nil {
		return "", err
	}
	return textsOf(t, dir, "inputs.json")["inputs.json"], nil
}

// TestLoaderPlugin: a loader in Python that does what the built-in one does gives the same requests. A plug-in that wants to be asked recognises its
// files, and mistakes of a plug-in name it and the conversation.
func TestLoaderPlugin(t *testing.T) {
	testhome.Slow(t)
	url := answersB(t)
	dir := t.TempDir()
	single, dashes := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "a.txt")
	rows := `{"text":"Größe <a> \u2028","output_length":5}` + "\n" + `{"text":"two","extra":{"top_p":0.5},"role":"user"}` + "\n" + `{"text":"three"}` + "\n"
	for path, text := range map[string]string{single: rows, dashes: "---\nabra\n---\ncadabra\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	builtIn, err := loadRun(t, url, single, "single_turn")
	if err != nil {
		t.Fatal(err)
	}
	installPlugins(t)
	external, err := loadRun(t, url, single, "single_turn")
	if err != nil {
		t.Fatal(err)
	}
	if external != builtIn || !strings.Contains(builtIn, "top_p") {
		t.Errorf("inputs.json differs:\n%s\n%s", builtIn, external)
	}
	found, err := loadRun(t, url, dashes, "")
	if err != nil || !strings.Contains(found, `"cadabra"`) || strings.Contains(found, "---") {
		t.Errorf("%s %v", found, err)
	}
	if testhome.Fast() {
		return
	}
	for format, want := range map[string]string{
		"broken": "a.jsonl: plug-in custom_dataset_loader:broken: conversations[0].turns[0].maximum_tokens: unknown key (did you mean max_tokens?)",
		"half":   `plug-in custom_dataset_loader:half: load: the program ended unexpectedly (exit status 1); its last line on standard error: "disk full"`,
	} {
		if _, err := loadRun(t, url, single, format); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
