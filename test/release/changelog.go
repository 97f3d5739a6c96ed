package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sources are the files that list what users see, all of them kept complete by tests of the program: flags and variables, metrics, commands. A path that
// ends in a slash is all files of a directory.
var sources = []struct {
	path string
	name *regexp.Regexp
}{
	{"docs/reference/", regexp.MustCompile("(?m)^\\| `(--[a-z0-9-]+|AIPERF_[A-Z0-9_]+)`")},
	{"docs/glossary.md", regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|")},
	commandSource,
}

var commandSource = struct {
	path string
	name *regexp.Regexp
}{"internal/cli/commandexamples.go", regexp.MustCompile(`(?m)^\t"([a-z][a-z -]*)": `)}

// lastTag returns the newest tag of a version before this commit; empty if nothing was released.
func lastTag() string {
	out, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD~1").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// namesAt returns what users see at a commit, or in this tree if it is empty.
func namesAt(commit string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, source := range sources {
		paths := []string{source.path}
		if strings.HasSuffix(source.path, "/") {
			var err error
			if paths, err = filesAt(commit, source.path); err != nil {
				return nil, fmt.Errorf("%s at %s: %w", source.path, commit, err)
			}
		}
		for _, path := range paths {
			text, err := textAt(commit, path)
			if err != nil {
				return nil, fmt.Errorf("%s at %s: %w", path, commit, err)
			}
			for _, m := range source.name.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
		}
	}
	return names, nil
}

// filesAt lists the files of a directory at a commit, or in this tree if it is empty.
func filesAt(commit, dir string) ([]string, error) {
	if commit == "" {
		return filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*"))
	}
	out, err := exec.Command("git", "ls-tree", "--name-only", commit, dir).Output()
	return strings.Fields(string(out)), err
}

// textAt returns a file at a commit, or in this tree if it is empty.
func textAt(commit, path string) ([]byte, error) {
	if commit == "" {
		return os.ReadFile(path)
	}
	return exec.Command("git", "show", commit+":"+path).Output()
}

// added returns what users see now and did not see at a tag. Without a tag everything is new, and only the commands count.
func added(tag string) ([]string, error) {
	now, err := namesAt("")
	if err != nil {
		return nil, err
	}
	if tag != "" {
		before, err := namesAt(tag)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(now, func(name string, _ bool) bool { return before[name] })
		return slices.Sorted(maps.Keys(now)), nil
	}
	text, err := os.ReadFile(commandSource.path)
	var list []string
	for _, m := range commandSource.name.FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	return list, err
}

var (
	versionHeading = regexp.MustCompile(`(?m)^## (.+)$`)
	kindHeading    = regexp.MustCompile(`(?m)^### (.+)$`)
	versionAndDate = regexp.MustCompile(`^(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?) - \d{4}-\d\d-\d\d$`)
)

// kinds are the headings of Keep a Changelog.
var kinds = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

// section returns the text of a version in the changelog.
func section(text, version string) (string, error) {
	places := versionHeading.FindAllStringSubmatchIndex(text, -1)
	for i, at := range places {
		head := text[at[2]:at[3]]
		if m := versionAndDate.FindStringSubmatch(head); head != version && (m == nil || m[1] != version) {
			continue
		}
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		return text[at[1]:end], nil
	}
	return "", fmt.Errorf("CHANGELOG.md has no section of %s; add \"## %s - YYYY-MM-DD\"", version, version)
}

// sinceTag returns the part of the changelog above the section of a tag; all of it without a tag.
func sinceTag(text, tag string) string {
	for _, at := range versionHeading.FindAllStringSubmatchIndex(text, -1) {
		if m := versionAndDate.FindStringSubmatch(text[at[2]:at[3]]); m != nil && "v"+m[1] == tag {
			return text[:at[0]]
		}
	}
	return text
}

// changelogFaults returns what is wrong with a part of the changelog: a heading that Keep a Changelog does not have, no entry, and names that are missing.
func changelogFaults(part, version string, names []string) error {
	var faults []error
	for _, m := range kindHeading.FindAllStringSubmatch(part, -1) {
		if !slices.Contains(kinds, m[1]) {
			faults = append(faults, fmt.Errorf("CHANGELOG.md, %s: %q is none of %s", version, m[1], strings.Join(kinds, ", ")))
		}
	}
	if !strings.Contains(part, "\n- ") {
		faults = append(faults, fmt.Errorf("CHANGELOG.md, %s: the section has no entry", version))
	}
	for _, name := range names {
		if !mentions(part, name) {
			faults = append(faults, fmt.Errorf("CHANGELOG.md, %s: `%s` is new and has no entry", version, name))
		}
	}
	return errors.Join(faults...)
}

// mentions reports whether a text names a flag, variable, metric or command as a whole word. A command under another counts if both of its words are there.
func mentions(text, name string) bool {
	for word := range strings.FieldsSeq(name) {
		if !regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(word) + `($|[^\w-])`).MatchString(text) {
			return false
		}
	}
	return true
}

// checkChangelog refuses a release without a complete section of its version, or with entries that are still unreleased. An empty version checks all
// entries since the last release.
func checkChangelog(version string) error {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	tag := lastTag()
	names, err := added(tag)
	if err != nil {
		return err
	}
	if version == "" {
		return changelogFaults(sinceTag(string(text), tag), "since the last release", names)
	}
	if left, err := section(string(text), "Unreleased"); err == nil && strings.Contains(left, "\n- ") {
		return fmt.Errorf("CHANGELOG.md still has unreleased entries; move them to \"## %s - YYYY-MM-DD\"", version)
	}
	part, err := section(string(text), version)
	if err != nil {
		return err
	}
	return changelogFaults(part, version, names)
}
