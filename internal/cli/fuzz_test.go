package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/testhome"
	"aiperf/internal/cli/resolve"
)

// FuzzResolveFile puts flags over any file: there is a run that may be printed, or something is said, and nothing panics.
func FuzzResolveFile(f *testing.F) {
	testhome.Slow(f)
	for _, c := range readGolden[recorded](f, "yaml.jsonl.gz") {
		if text := c.Contents["c.yaml"]; text != "" {
			f.Add(text, strings.Join(c.Args[1:], " "))
		}
	}
	f.Add("benchmark: {models: [m], endpoint: {url: h}, dataset: {type: synthetic}, phases: {type: gamma, rate: 1, requests: 4}}",
		"--warmup-request-count 2 --arrival-pattern constant --isl 9 --osl-stddev 2 --prompt-corpus sonnet")
	f.Add("benchmark: {models: [m], endpoint: {url: h, type: nim_rankings}, dataset: {rankings: {passages: 2}}, phases: {type: concurrency, requests: [4, 5]}}",
		"--rankings-passages-mean 3 --concurrency 1,2 --no-gpu-telemetry --export-level summary")
	path := filepath.Join(f.TempDir(), "c.yaml")
	f.Fuzz(func(t *testing.T, text, flags string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, w := range strings.Fields(flags) {
			if w != "--config" && w != "-f" && w != "c.yaml" && !strings.Contains(w, "input-file") && !strings.Contains(w, "artifact") {
				words = append(words, w)
			}
		}
		set, faults := setting.Scan(resolve.Flags, append(words, "--config", path))
		if faults = append(faults, notBuilt(set)...); len(faults) > 0 || set.Text("--config", "") != path {
			return
		}
		run, found := resolve.FromFile(set, resolve.Surroundings{})
		if len(found.Problems) > 0 {
			return
		}
		if _, err := run.YAML(); err != nil {
			t.Error(err)
		}
		if _, err := run.Cells(); err != nil {
			t.Error(err)
		}
	})
}
