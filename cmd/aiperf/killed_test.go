//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestKilledSeriesLeavesWholeInputs: find-capacity and ab that are killed at random instants leave every inputs.json whole or none, and the series after
// them keeps neither a torn one, as older versions left it, nor a draft.
func TestKilledSeriesLeavesWholeInputs(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const server = "mock://?ttft=20ms&itl=0&tokens=2"
	load := []string{"--model", "m", "--streaming", "--num-dataset-entries", "3000", "--isl", "300", "--tokenizer", "builtin", "--ui", "none"}
	for name, c := range map[string]struct {
		args  []string
		inner string // a directory of a run
	}{
		"find-capacity": {[]string{"find-capacity", "--url", server, "--slo", "ttft:p99<200ms", "--max-time", "12s", "--max-cells", "2"}, "cells/one_user"},
		"ab":            {[]string{"ab", "--a", server, "--b", server, "--pairs", "6", "--block", "1", "--wash-in", "0", "--concurrency", "2"}, "blocks/pair_01_a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append(append(c.args, load...), "--artifact-dir", dir)
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			drafts := 0
			for range 4 {
				cmd := command(t, args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				await(t, "no draft of inputs.json", func() bool { return countFiles(t, dir, "inputs.json.part") > 0 })
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // it was killed
				wholeInputs(t, dir)
				drafts += countFiles(t, dir, "inputs.json.part")
			}
			if drafts == 0 {
				t.Error("no process was killed while it wrote inputs.json: the test shows nothing")
			}
			torn := filepath.Join(dir, c.inner, "inputs.json")
			if err := os.MkdirAll(filepath.Dir(torn), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(torn, []byte("{\n  \"data\": [\n    {\"session_id\": \"a"), 0o600); err != nil {
				t.Fatal(err)
			}
			later := command(t, args...)
			if err := later.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, "the torn inputs.json is still there", func() bool {
				text, err := os.ReadFile(torn)
				return err != nil || json.Valid(text)
			})
			if err := later.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = later.Wait() // its status tells of the signal
			wholeInputs(t, dir)
			if n := countFiles(t, dir, "inputs.json.part"); n != 0 {
				t.Errorf("%d drafts are left", n)
			}
		})
	}
}

// wholeInputs demands that each inputs.json below a directory is JSON.
func wholeInputs(t *testing.T, dir string) {
	t.Helper()
	eachFile(t, dir, "inputs.json", func(path string) {
		if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
			t.Errorf("%s is torn (%d bytes, %v)", path, len(text), err)
		}
	})
}

func countFiles(t *testing.T, dir, name string) (n int) {
	t.Helper()
	eachFile(t, dir, name, func(string) { n++ })
	return n
}

// await waits until a condition holds, for at most some seconds.
func await(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("%s after 15 s", otherwise)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// eachFile calls see for each file of a name below a directory, which may change meanwhile.
func eachFile(t *testing.T, dir, name string, see func(path string)) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			see(path)
		}
		return nil
	})
}

// TestInputIsNotReplaced: a run that reads its prompts from a file in its own artifact directory leaves that file as it is, or refuses to begin.
func TestInputIsNotReplaced(t *testing.T) {
	t.Parallel()
	const prompts = "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n"
	for name, refused := range map[string]bool{"inputs.json": false, "profile_export.jsonl": true} {
		p := program(t, "--url", "mock://?ttft=1ms&itl=0", "--request-count", "2")
		path := filepath.Join(p.dir, name)
		p.cmd.Args = append(p.cmd.Args, "--input-file", path, "--custom-dataset-type", "single_turn")
		if err := os.MkdirAll(p.dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(prompts), 0o666); err != nil {
			t.Fatal(err)
		}
		status := p.run()
		if got, err := os.ReadFile(path); err != nil || string(got) != prompts {
			t.Errorf("%s was replaced: %.60q, %v", name, got, err)
		}
		if refused != (status != 0) || !strings.Contains(p.stderr.String(), "the run reads") {
			t.Errorf("%s: status %d\n%s", name, status, p.stderr.String())
		}
	}
}
