package house

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// packages lists every package of the module with its direct imports from the module, both as paths below it.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "aiperf/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
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
		t.Fatal("go list found no package")
	}
	return list
}

func TestEveryPackageHasAFloor(t *testing.T) {
	list := packages(t)
	for name := range list {
		if _, ok := Floor(name); !ok {
			t.Errorf("%s has no floor: enter it in Floors", name)
		}
	}
	for name := range Floors {
		if _, ok := list[name]; !ok {
			t.Errorf("%s is in Floors but not in the module", name)
		}
	}
}

func TestImportsGoDown(t *testing.T) {
	for name, imports := range packages(t) {
		from, _ := Floor(name)
		for _, imp := range imports {
			to, ok := Floor(imp)
			samePackage := top(imp) == top(name)
			if ok && !samePackage && to >= from {
				t.Errorf("%s (floor %d) imports %s (floor %d)", name, from, imp, to)
			}
		}
	}
}

func TestRoom(t *testing.T) {
	for _, c := range [][2]string{
		{"internal/dataset/synth", "internal/dataset"},
		{"internal/dataset", "internal/dataset"},
		{"cmd/aiperf", "cmd/aiperf"},
	} {
		if got := top(c[0]); got != c[1] {
			t.Errorf("top(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}
