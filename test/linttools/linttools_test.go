package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const builder = `package lintersdb

import (
	"x/pkg/config"
	"x/pkg/golinters"
	"x/pkg/golinters/errcheck"
	"x/pkg/golinters/depguard"
	"x/pkg/lint/linter"
)

func Build(cfg *config.Config) ([]*linter.Config, error) {
	replacer := config.NewPlaceholderReplacer(cfg)
	return []*linter.Config{
		linter.NewConfig(errcheck.New(&cfg.Errcheck)).WithSince("v1.0.0").WithURL("x"),
		linter.NewConfig(depguard.New(&cfg.Depguard, replacer)).
			WithSince("v1.4.0"),
		linter.NewConfig(golinters.NewTypecheck()).WithInternal(),
	}, nil
}
`

func TestFilterBuilder(t *testing.T) {
	out, err := filterBuilder([]byte(builder), []string{"errcheck"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for _, want := range []string{`"x/pkg/golinters/errcheck"`, "errcheck.New(&cfg.Errcheck)", "golinters.NewTypecheck()", "_ = replacer"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "depguard") {
		t.Errorf("depguard is still in\n%s", text)
	}
	if _, err := filterBuilder([]byte(builder), []string{"errcheck", "gosec"}); err == nil || !strings.Contains(err.Error(), "gosec") {
		t.Errorf("a linter that golangci-lint does not have: %v", err)
	}
}

func TestEnabled(t *testing.T) {
	names, err := enabled("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"govet", "staticcheck", "revive", "gosec"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	other := filepath.Join(t.TempDir(), "all.yml")
	if err := os.WriteFile(other, []byte("linters:\n  default: all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := enabled(other); err == nil {
		t.Error("linters.default: all is accepted")
	}
}

// TestSameVersions: make tools builds the whole tools, this program parts of them, both from the same versions.
func TestSameVersions(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		module, version, _ := strings.Cut(tool.module, "@")
		if want := module + strings.TrimPrefix(tool.pkg, ".") + "@" + version; !strings.Contains(string(makefile), "install "+want+"\n") {
			t.Errorf("the target tools of the Makefile does not install %s", want)
		}
	}
}
