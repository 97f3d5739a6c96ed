package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// otherPages name flags of other programs, with those of ours.
var otherPages = regexp.MustCompile(`guides/from-|differences\.md|howto/|releasing\.md|gallery/`)

// otherFlags are flags of servers that pages name.
var otherFlags = []string{"--enable-metrics", "--enable-prompt-tokens-details", "--enable-cache-report"}

// TestFlagsOfPages: every flag that a page of the documentation names exists in the help of some command.
func TestFlagsOfPages(t *testing.T) {
	named, flag := regexp.MustCompile("`(--[a-z0-9][a-z0-9-]+)"), regexp.MustCompile(`--[a-z0-9][a-z0-9-]+`)
	known := map[string]bool{}
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		var out strings.Builder
		words := append(slices.Clone(path), "--help")
		if len(path) == 1 && path[0] == "profile" {
			words = append(words, "all")
		}
		p := &Program{Streams: Streams{Out: &out, Err: &out}}
		if status := Main(t.Context(), p, words); status != 0 {
			t.Errorf("%v: status %d", words, status)
		}
		for _, name := range flag.FindAllString(out.String(), -1) {
			known[name] = true
		}
		for _, child := range cmd.Commands() {
			walk(child, append(slices.Clone(path), child.Name()))
		}
	}
	walk((&Program{}).root(), nil)
	var pages []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 40 || len(known) < 400 {
		t.Fatalf("%d pages, %d flags", len(pages), len(known))
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if !known[m[1]] && !slices.Contains(otherFlags, m[1]) && !otherPages.MatchString(filepath.ToSlash(page)) {
				t.Errorf("%s names %s, which no command has", page, m[1])
			}
		}
	}
}
