package main

import (
	"path/filepath"
	"testing"
)

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
