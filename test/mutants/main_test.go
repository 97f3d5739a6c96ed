package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeHasItsRules checks that every target that the Makefile declares has a rule. make reports success for a declared target without one.
func TestMakeHasItsRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, targets, _ := strings.Cut(string(text), "\n.PHONY: ")
	targets, _, _ = strings.Cut(targets, "\n")
	if !strings.Contains(" "+targets+" ", " mutants ") {
		t.Fatalf("targets: %q", targets)
	}
	for target := range strings.FieldsSeq(targets) {
		if !strings.Contains(string(text), "\n"+target+":") {
			t.Errorf("Makefile declares %s and has no rule for it", target)
		}
	}
}

// TestListFits checks that every mutant of the list can be planted. A change of the code must change the list with it.
func TestListFits(t *testing.T) {
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d mutants, want at least 100", len(all))
	}
	for _, m := range all {
		if _, err := m.source(filepath.Join("..", "..", "internal", m.file)); err != nil {
			t.Error(err)
		}
		if m.old == m.new {
			t.Errorf("%s: %s: the mutant changes nothing", m.file, m.name)
		}
	}
}
