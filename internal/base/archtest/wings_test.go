package archtest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// packages lists every package of the module with its direct imports from the module, both as paths below it. The tests share the list.
var packages = sync.OnceValue(func() map[string][]string {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "aiperf/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		panic(fmt.Sprintf("go list: %v\n%s", err, stderr.String()))
	}
	list := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], "aiperf/")
		list[name] = nil
		for _, imp := range fields[1:] {
			if rest, ok := strings.CutPrefix(imp, "aiperf/"); ok {
				list[name] = append(list[name], rest)
			}
		}
	}
	if len(list) == 0 {
		panic("go list found no package")
	}
	return list
})

func TestEveryPackageHasAWing(t *testing.T) {
	filled := map[string]bool{}
	for name := range packages() {
		wing, position := WingOf(name)
		if position < 0 {
			t.Errorf("%s is in no wing; put it into one of internal/{%s}", name, strings.Join(Wings, ","))
		}
		filled[wing] = true
	}
	for _, wing := range Wings {
		if !filled[wing] {
			t.Errorf("wing %s holds no package; take it off the list", wing)
		}
	}
}

// TestImportsGoDown: a package imports its own wing and earlier ones. Programs import what they want, and nothing imports them.
func TestImportsGoDown(t *testing.T) {
	for name, imports := range packages() {
		wing, from := WingOf(name)
		for _, imp := range imports {
			other, to := WingOf(imp)
			if to > from || to == len(Wings) {
				t.Errorf("%s (wing %s) imports %s (wing %s), which comes later", name, wing, imp, other)
			}
		}
	}
}

func TestWingOf(t *testing.T) {
	for name, want := range map[string]int{
		"internal/base/rng": 0, "internal/workload/dataset/synth": 4, "internal/run": 9, "cmd/aiperf": len(Wings), "test/mutants": len(Wings),
		"contrib/python":     0,
		"internal/nowhere/x": -1, "elsewhere": -1,
	} {
		if _, got := WingOf(name); got != want {
			t.Errorf("WingOf(%q) has position %d, want %d", name, got, want)
		}
	}
}
