package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChangelog: everything that is new since the last release has an entry.
func TestChangelog(t *testing.T) {
	t.Chdir("../..")
	if err := checkChangelog(""); err != nil {
		t.Error(err)
	}
	names, err := added("")
	if err != nil || len(names) < 40 {
		t.Errorf("%d commands: %v, %v", len(names), names, err)
	}
}

// TestChangelogFaults: a release without a section, with an empty one, a foreign heading, entries left unreleased or a new name without an entry is refused.
func TestChangelogFaults(t *testing.T) {
	const text = "# Changelog\n\n## Unreleased\n\n## 1.1.0 - 2026-11-28\n\n### Added\n\n- `--new-flag` does it. `kube list` lists.\n\n## 1.0.0 - 2026-01-02\n\n### News\n\n## 0.9.0\n"
	of := func(version string, names ...string) error {
		part, err := section(text, version)
		if err != nil {
			return err
		}
		return changelogFaults(part, version, names)
	}
	for version, want := range map[string]string{"1.1.0": "", "1.0.0": `"News" is none of`, "2.0.0": "no section of 2.0.0", "0.9.0": "no entry"} {
		if err := of(version); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
	if err := of("1.1.0", "--new-flag", "kube list", "--new", "kube"); err == nil || strings.Count(err.Error(), "has no entry") != 1 || !strings.Contains(err.Error(), "`--new` is new") {
		t.Errorf("%v", err)
	}
	for tag, want := range map[string]string{"v1.0.0": "# Changelog\n\n## Unreleased\n\n## 1.1.0 - 2026-11-28\n\n### Added\n\n- `--new-flag` does it. `kube list` lists.\n\n", "": text, "v3.0.0": text} {
		if got := sinceTag(text, tag); got != want {
			t.Errorf("since %s: %q", tag, got)
		}
	}
}

// TestAdded: names that a tag already has are not new; a release with entries left unreleased is refused.
func TestAdded(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	put("docs/reference/profile.md", "| `--old` | x |\n")
	put("docs/reference/environment.md", "| `AIPERF_OLD` | x |\n")
	put("docs/glossary.md", "| `ttft` | x |\n")
	put("internal/cli/commandexamples.go", "\t\"run\": \"x\",\n")
	put("CHANGELOG.md", "## Unreleased\n\n### Added\n\n- run\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("tag", "v1.0.0")
	put("docs/reference/profile.md", "| `--old` | x |\n| `--new` | x |\n")
	put("docs/reference/environment.md", "| `AIPERF_NEW` | x |\n")
	git("commit", "-q", "-a", "-m", "two")
	if names, err := added(lastTag()); err != nil || strings.Join(names, " ") != "--new AIPERF_NEW" {
		t.Errorf("%v, %v", names, err)
	}
	if err := checkChangelog(""); err == nil || !strings.Contains(err.Error(), "`--new` is new") {
		t.Error(err)
	}
	if err := checkChangelog("1.1.0"); err == nil || !strings.Contains(err.Error(), "still has unreleased entries") {
		t.Error(err)
	}
}
