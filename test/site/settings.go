package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parts are the beginnings of the four parts of the start page and their names in the navigation (https://diataxis.fr).
var parts = []struct{ begin, name string }{
	{"**Learn**", "Tutorials"}, {"**Do**", "How-to guides"}, {"**Look up**", "Reference"}, {"**Understand**", "Explanation"},
}

// settingsText are the settings of MkDocs without the navigation. Nothing is loaded from elsewhere: no fonts, no scripts.
const settingsText = `site_name: aiperf
docs_dir: pages
site_dir: html
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.indexes, navigation.top, search.highlight, search.suggest, content.code.copy, toc.follow]
  palette:
    - {media: "(prefers-color-scheme: light)", scheme: default, primary: indigo, toggle: {icon: material/weather-night, name: Dark}}
    - {media: "(prefers-color-scheme: dark)", scheme: slate, primary: indigo, toggle: {icon: material/weather-sunny, name: Light}}
plugins:
  - search
  - offline
extra:
  polyfills: [assets/iframe-worker.js] # searches pages that lie on a disk; the plug-in offline would load it from elsewhere
markdown_extensions:
  - tables
  - pymdownx.superfences
  - pymdownx.highlight
  - toc: {permalink: true, slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}}
validation:
  nav: {omitted_files: ignore, not_found: warn, absolute_links: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
nav:
`

// settings returns the settings of MkDocs. The navigation is that of the start page: its parts, and in each the pages in their order. A page appears once.
func (s *site) settings() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(startPage)))
	if err != nil {
		return nil, err
	}
	lists, err := split(string(text))
	if err != nil {
		return nil, err
	}
	nav := []map[string]any{{"Start": "index.md"}}
	placed := map[string]bool{}
	for i, part := range parts {
		pages := []map[string]string{}
		for _, from := range s.linksOf(startPage, lists[i]) {
			if placed[from] {
				continue
			}
			placed[from] = true
			content, err := s.content(from)
			if err != nil {
				return nil, err
			}
			pages = append(pages, map[string]string{title(string(content)): s.files[from]})
		}
		nav = append(nav, map[string]any{part.name: pages})
	}
	out, err := yaml.Marshal(nav)
	return append([]byte(settingsText), out...), err
}

// split returns the text of each of the four parts of the start page.
func split(text string) ([]string, error) {
	list := make([]string, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		at := strings.Index(text, "\n"+parts[i].begin)
		if at < 0 {
			return nil, fmt.Errorf("%s: no part begins with %s", startPage, parts[i].begin)
		}
		list[i], text = text[at:], text[:at]
	}
	if strings.TrimSpace(list[0]) == "" {
		return nil, errors.New("the first part is empty")
	}
	return list, nil
}

var firstHeading = regexp.MustCompile(`(?m)^# (.+)$`)

// title returns the first heading of a page without its marks.
func title(text string) string {
	if m := firstHeading.FindStringSubmatch(text); m != nil {
		return strings.ReplaceAll(m[1], "`", "")
	}
	return "untitled"
}
