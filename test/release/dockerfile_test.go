package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDockerfile: the first stage of the Dockerfile has every directory from which the program is compiled; nothing else builds it that way.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../packaging/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var copied []string
	for _, m := range regexp.MustCompile(`(?m)^COPY ([a-z]+) ([a-z]+)$`).FindAllStringSubmatch(string(text), -1) {
		if m[1] == m[2] {
			copied = append(copied, m[1])
		}
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "../../cmd/aiperf").Output()
	if err != nil {
		t.Fatal(err)
	}
	var needed []string
	for path := range strings.FieldsSeq(string(out)) {
		top, _, _ := strings.Cut(strings.TrimPrefix(path, "aiperf/"), "/")
		if !slices.Contains(needed, top) {
			needed = append(needed, top)
		}
	}
	slices.Sort(needed)
	slices.Sort(copied)
	if !slices.Equal(needed, copied) || len(needed) < 4 {
		t.Errorf("packaging/Dockerfile copies %v, and the program is compiled from %v", copied, needed)
	}
}
