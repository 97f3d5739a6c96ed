package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestSweepDrafts: a new draft takes away those of ended processes of this machine, and no other file.
func TestSweepDrafts(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own := draftPattern()
	name := func(pattern string) string { return strings.Replace(pattern, "*", "1", 1) }
	dead := draftPrefix + machineName() + "-" + strconv.Itoa(cmd.Process.Pid) + "-7"
	stays := map[string]bool{name(own): true, ".aiperf-otherhost-1-2": true, ".aiperf-plot-config.yaml": true, "x": true, draftPrefix + machineName() + "-x-1": true}
	for file := range stays {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, dead), []byte("torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, dead+"8", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &Program{Streams: Streams{Err: os.Stderr}}
	d, err := p.draftFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	d.drop()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(stays) {
		t.Errorf("%v, %v", left, err)
	}
	for _, e := range left {
		if !stays[e.Name()] {
			t.Errorf("%s is left", e.Name())
		}
	}
}
