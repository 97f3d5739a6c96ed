//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimits: the file of limits has every measure, and a line that is not a limit is refused with its number.
func TestLimits(t *testing.T) {
	text, err := os.ReadFile("../../" + limitsFile)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measures {
		if limits[m.name] <= 0 {
			t.Errorf("%s has no limit of %s", limitsFile, m.name)
		}
	}
	for text, says := range map[string]string{"binary\n": "line 1", "# a\nweight 3\n": "line 2", "binary big\n": "invalid syntax"} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestMeasures: the size and the memory of a program of one line are measured.
func TestMeasures(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if v, err := binary(program); err != nil || v != 17e-6 {
		t.Errorf("%v MB, %v", v, err)
	}
	if v, err := resident("--version")(program); err != nil || v < .1 || v > 100 {
		t.Errorf("%v MiB, %v", v, err)
	}
	if _, err := binary(program + "x"); err == nil {
		t.Error("a missing program has a size")
	}
}
