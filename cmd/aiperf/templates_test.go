//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
	"aiperf/internal/cli/exampleconfigs"
	"aiperf/internal/sim/mockserver"
)

// small holds the settings of a template that a test reduces, with their maximum.
var small = map[string]string{
	"requests": "3", "sessions": "2", "entries": "3", "duration": "1", "concurrency": "4", "rate": "60", "users": "2", "samples": "2", "num_runs": "2",
	"cooldown_seconds": "0", "grace_period": "1", "delay": "0.01", "slice_duration": "0.1", "turn_delay": "1",
}

// shrink makes a template short: its lists of swept values too.
func shrink(n *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i].Value, n.Content[i+1]
		limit, known := small[key]
		switch {
		case known && v.Kind == yaml.ScalarNode:
			most, _ := strconv.ParseFloat(limit, 64)
			if have, err := strconv.ParseFloat(v.Value, 64); err != nil || have > most || key == "rate" { // a text such as 2m, or an expression; a low rate would send nothing
				v.SetString(limit)
				v.Tag, v.Style = "", 0
			}
		case key == "parameters":
			for k := 1; k < len(v.Content); k += 2 {
				v.Content[k].Content = v.Content[k].Content[:min(2, len(v.Content[k].Content))]
			}
		}
	}
	for _, c := range n.Content {
		shrink(c)
	}
}

// elsewhere are templates whose rows come from a hub; their runs are tested with a substitute (package run).
var elsewhere = map[string]bool{"public_dataset": true, "speed_bench_sweep": true}

// TestTemplatesRun: every template runs against the mock server, made short, and leaves results in which nothing failed.
func TestTemplatesRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	options := mockserver.Defaults()
	options.TTFT, options.ITL, options.CountPrompt = 0, 0, false
	server, err := mockserver.New(options)
	if err == nil {
		err = server.Listen("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, one := range exampleconfigs.All() {
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(one.With("", "")), &doc); err != nil {
				t.Fatal(err)
			}
			shrink(doc.Content[0])
			text, err := yaml.Marshal(&doc)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "t.yaml"), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"profile", "--config", "t.yaml", "--tokenizer", "builtin", "--artifact-dir", "out", "--no-server-metrics", "--no-gpu-telemetry"}
			if elsewhere[one.Name] {
				args = append(args, "--dry-run")
			}
			run := command(t, args...)
			run.Dir, run.Env = dir, append(run.Env, "INFERENCE_URL="+server.URL(), "SECOND_URL="+server.URL(), "MODEL_NAME=m")
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, text)
			}
			if elsewhere[one.Name] {
				return
			}
			var summaries int
			err = filepath.WalkDir(filepath.Join(dir, "out"), func(path string, _ os.DirEntry, err error) error {
				if strings.HasSuffix(path, "profile_export_aiperf.json") {
					summaries++
				}
				return err
			})
			if err != nil || summaries == 0 {
				t.Errorf("%d summaries, %v", summaries, err)
			}
		})
	}
}
