package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// open returns the site of this repository.
func open(t *testing.T) *site {
	t.Helper()
	s, err := readSite("../..")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// page returns the text of a page of the repository.
func page(t *testing.T, s *site, from string) string {
	t.Helper()
	if strings.HasPrefix(from, "examples/") && !strings.HasSuffix(from, ".md") {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(from)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clicks returns how many links lead from the start page to each page that can be reached.
func clicks(t *testing.T, s *site) map[string]int {
	t.Helper()
	far := map[string]int{startPage: 0}
	for queue := []string{startPage}; len(queue) > 0; queue = queue[1:] {
		for _, to := range s.linksOf(queue[0], page(t, s, queue[0])) {
			if _, seen := far[to]; !seen {
				far[to] = far[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return far
}

// TestTwoClicks: every page is at most two clicks away from the start page.
func TestTwoClicks(t *testing.T) {
	s := open(t)
	far := clicks(t, s)
	for _, from := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasSuffix(from, ".png") {
			continue
		}
		if n, reached := far[from]; !reached || n > 2 {
			t.Errorf("%s: %d clicks away from the start page, reached: %v", from, n, reached)
		}
	}
}

// question is a row of the page of questions: the question, and the page and heading that answer it.
var question = regexp.MustCompile(`(?m)^\| ([^|]+\?) \| [^|]+ \| \[[^\]]+\]\(([^)#]+)#([^)]+)\) \|$`)

// TestTenQuestions: each question of a newcomer has its answer under a heading that exists, on a page that the start page links to.
func TestTenQuestions(t *testing.T) {
	s := open(t)
	rows := question.FindAllStringSubmatch(page(t, s, "docs/questions.md"), -1)
	if len(rows) < 10 {
		t.Errorf("%d questions", len(rows))
	}
	far := clicks(t, s)
	for _, m := range rows {
		to := filepath.ToSlash(filepath.Join("docs", m[2]))
		if n, reached := far[to]; !reached || n > 1 {
			t.Errorf("%s %s is %d clicks away from the start page, reached: %v", m[1], to, n, reached)
			continue
		}
		if !slices.Contains(headings(page(t, s, to)), m[3]) {
			t.Errorf("%s %s has no heading #%s", m[1], to, m[3])
		}
	}
}

// headings returns the marks of the headings of a page.
func headings(text string) (list []string) {
	outside(text, func(part string) string {
		for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(part, -1) {
			mark := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
			list = append(list, strings.ReplaceAll(mark, " ", "-"))
		}
		return part
	})
	return list
}

// longPages are references that are searched, not read from beginning to end.
var longPages = []string{"docs/differences.md", "docs/glossary.md", "docs/licences.md", "docs/house.md"}

// twoScreens is how many lines a page may have.
const twoScreens = 120

// TestTwoScreens: a page that is read from beginning to end has at most two screens.
func TestTwoScreens(t *testing.T) {
	s := open(t)
	for _, from := range slices.Sorted(maps.Keys(s.files)) {
		if !strings.HasPrefix(from, "docs/") || !strings.HasSuffix(from, ".md") || slices.Contains(longPages, from) {
			continue
		}
		if n := strings.Count(page(t, s, from), "\n"); n > twoScreens {
			t.Errorf("%s has %d lines, at most %d are allowed: split it", from, n, twoScreens)
		}
	}
}

// TestRelink: links between pages become links of the site, links to other files their names; blocks of code stay as they are.
func TestRelink(t *testing.T) {
	s := &site{files: map[string]string{"docs/guides/a.md": "guides/a.md", "README.md": "overview.md", "docs/b.md": "b.md", "docs/x.png": "x.png", "examples/chat": "examples/chat.md"}}
	for text, want := range map[string]string{
		"[b](../b.md#two)": "[b](../b.md#two)", "[r](../../README.md)": "[r](../overview.md)", "![p](../x.png)": "![p](../x.png)", "[`c`](../../examples/chat)": "[`c`](../examples/chat.md)",
		"[h](https://x.org/a)": "[h](https://x.org/a)", "[m](#here)": "[m](#here)", "[code](../../internal/x.go)": "code (`internal/x.go`)",
		"```sh\n[r](../../README.md)\n```\n": "```sh\n[r](../../README.md)\n```\n",
	} {
		if got := s.relink("docs/guides/a.md", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLoaded: scripts, styles and pictures of other places are found, links for readers are not.
func TestLoaded(t *testing.T) {
	const page = `<link rel="stylesheet" href="https://fonts.example/a.css"><script src="//cdn.example/x.js"></script><script src="assets/x.js"></script><a href="https://example.org">x</a><img src="http://example.org/p.png"/>`
	if got, want := loaded(page), []string{"https://fonts.example/a.css", "//cdn.example/x.js", "http://example.org/p.png"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := check(t.TempDir()); err == nil || !strings.Contains(err.Error(), "0 pages") {
		t.Errorf("an empty site: %v", err)
	}
}

// TestSettings: the navigation has four parts with pages, each page once; the settings load nothing from elsewhere.
func TestSettings(t *testing.T) {
	s := open(t)
	dir := t.TempDir()
	if err := prepare(s.root, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "mkdocs.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, nav, _ := strings.Cut(string(text), "\nnav:\n")
	at := -1
	for _, part := range parts {
		next := strings.Index(nav, "\n- "+part.name+":\n")
		if next <= at {
			t.Errorf("%s is not after the part before it:\n%s", part.name, nav)
		}
		at = next
	}
	pages := regexp.MustCompile(`(?m): (\S+\.md)$`).FindAllStringSubmatch(nav, -1)
	seen := map[string]bool{}
	for _, m := range pages {
		if seen[m[1]] {
			t.Errorf("%s appears twice", m[1])
		}
		seen[m[1]] = true
		if _, err := os.Stat(filepath.Join(dir, "pages", m[1])); err != nil {
			t.Error(err)
		}
	}
	if len(seen) < 30 || !strings.Contains(string(text), "font: false") || strings.Contains(string(text), "http") {
		t.Errorf("%d pages:\n%s", len(seen), text)
	}
}
