package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	makeTarget = regexp.MustCompile(`\bmake ([a-z-]+)`)
	pinned     = regexp.MustCompile(`@[0-9a-f]{40}$`)
	installed  = regexp.MustCompile(`go (?:run|install) [^ ]+\.[a-z]+/[^ @]+(@[^ ]+)?`)
)

// TestWorkflows: workflows use actions by commit and programs by version, put no expression into a script, and call targets that the Makefile has.
func TestWorkflows(t *testing.T) {
	t.Chdir("../..")
	rules, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"packaging/github/release.yml", "examples/compare-in-ci/workflow.yml"}
	for _, file := range files {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct{ Steps []struct{ Uses, Run string } }
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		steps := 0
		for _, job := range workflow.Jobs {
			for _, s := range job.Steps {
				steps++
				if s.Uses != "" && !pinned.MatchString(s.Uses) {
					t.Errorf("%s: %s is not pinned by a commit", file, s.Uses)
				}
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: an expression inside a script could carry commands: %s", file, s.Run)
				}
				for _, m := range makeTarget.FindAllStringSubmatch(s.Run, -1) {
					if !strings.Contains(string(rules), "\n"+m[1]+":") {
						t.Errorf("%s: the Makefile has no target %s", file, m[1])
					}
				}
				for _, m := range installed.FindAllStringSubmatch(s.Run, -1) {
					if !strings.HasPrefix(m[1], "@v") {
						t.Errorf("%s: %s has no version", file, m[0])
					}
				}
			}
		}
		if steps < 4 {
			t.Errorf("%s: %d steps", file, steps)
		}
	}
}
