package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// module is a module whose packages are linked into the program on at least one system.
type module struct {
	path, version, dir string
	files              []licenceFile
}

// licenceFile is a file of a module that states its licence.
type licenceFile struct{ name, text string }

// licenceNames matches the names of such files.
var licenceNames = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice)([-.].*)?$`)

// linked lists the modules of the program on all systems for which releases are made, sorted by path.
func linked() (list []module, err error) {
	seen := map[string]module{}
	for _, system := range systems() {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/aiperf")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for line := range strings.SplitSeq(string(out), "\n") {
			if f := strings.Split(line, "\t"); len(f) == 3 {
				seen[f[0]] = module{path: f[0], version: f[1], dir: f[2]}
			}
		}
	}
	for _, m := range seen {
		if err := m.read(); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// read reads the licence files of a module.
func (m *module) read() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return fmt.Errorf("%s: %w; run go mod download", m.path, err)
	}
	for _, e := range entries {
		if !licenceNames.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return err
		}
		m.files = append(m.files, licenceFile{e.Name(), inUTF8(text)})
	}
	if c, ok := chosen[m.path]; ok {
		text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(c.file)))
		if err != nil {
			return err
		}
		m.files = append(m.files, licenceFile{c.file, inUTF8(text)})
	}
	if len(m.files) == 0 {
		return fmt.Errorf("%s %s has no licence file", m.path, m.version)
	}
	return nil
}

// inUTF8 returns a text in UTF-8. A text that is in another encoding is taken as Latin-1.
func inUTF8(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// licences maps SPDX names to sentences that occur in the text of that licence only, in lower case without line ends.
var licences = []struct{ name, sentence string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-3-Clause", "used to endorse or promote products derived"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"CC-BY-4.0", "creative commons attribution 4.0"},
}

// denied are words of licences whose conditions a static program cannot meet, or that the project does not want.
var denied = []string{"gnu general public", "gnu lesser general public", "gnu affero", "mozilla public license", "server side public license", "business source license", "commons clause"}

var blanks = regexp.MustCompile(`[\s,]+`)

// classify returns the SPDX names of the licences in a text.
func classify(text string) (names []string) {
	flat := strings.ToLower(blanks.ReplaceAllString(text, " "))
	for _, one := range licences {
		if strings.Contains(flat, strings.ToLower(blanks.ReplaceAllString(one.sentence, " "))) && !slices.Contains(names, one.name) {
			if one.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause") {
				continue
			}
			names = append(names, one.name)
		}
	}
	return names
}

// chosen are modules that may be used under one of several licences: the one that we use, and the file with its text.
var chosen = map[string]struct{ name, file string }{
	"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"},
}

// licencesOf returns the licences of a module. A text that is not recognised, or a licence that is not accepted, is an error.
func (m *module) licencesOf() (names []string, err error) {
	if c, ok := chosen[m.path]; ok {
		return []string{c.name}, nil
	}
	for _, f := range m.files {
		flat := strings.ToLower(blanks.ReplaceAllString(f.text, " "))
		for _, word := range denied {
			if strings.Contains(flat, word) {
				return nil, fmt.Errorf("%s: %s mentions %q, which is not accepted", m.path, f.name, word)
			}
		}
		for _, n := range classify(f.text) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no licence was recognised in %d files", m.path, len(m.files))
	}
	slices.Sort(names)
	return names, nil
}

// licenceHead is the beginning of the page.
const licenceHead = `# Licences of the parts

aiperf is licensed under Apache-2.0. The program contains the Go standard library (BSD-3-Clause) and packages of the modules below, on at least one of the systems
for which releases are made. The texts are in the file THIRD-PARTY-LICENCES of each archive and package. ` + "`make licences`" + ` writes this page; a test compares it.

| module | version | licence |
|---|---|---|
`

// licencePage returns docs/licences.md.
func licencePage(list []module) (string, error) {
	var b strings.Builder
	b.WriteString(licenceHead)
	for i := range list {
		names, err := list[i].licencesOf()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", list[i].path, list[i].version, strings.Join(names, ", "))
	}
	return b.String(), nil
}

// licenceTexts returns the file with the texts of all licences. The distribution of the program requires them.
func licenceTexts(list []module) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "LICENSE"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This program contains the software of others. Their licences follow.\n\n==== The Go standard library: LICENSE\n\n%s\n", text)
	for _, m := range list {
		for _, f := range m.files {
			fmt.Fprintf(&b, "==== %s %s: %s\n\n%s\n", m.path, m.version, f.name, f.text)
		}
	}
	return b.String(), nil
}
