package main

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	fence    = regexp.MustCompile("(?ms)^ *(````*)[^\n]*\n.*?^ *````* *$")
	pageLink = regexp.MustCompile(`(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)`)
)

// outside calls f on the parts of a page that are not blocks of code.
func outside(text string, f func(string) string) string {
	var b strings.Builder
	at := 0
	for _, block := range fence.FindAllStringIndex(text, -1) {
		b.WriteString(f(text[at:block[0]]))
		b.WriteString(text[block[0]:block[1]])
		at = block[1]
	}
	b.WriteString(f(text[at:]))
	return b.String()
}

// relink turns the links of a page into links of the site. A link to a file that is not part of the site becomes the name of that file.
func (s *site) relink(from, text string) string {
	return outside(text, func(part string) string {
		return pageLink.ReplaceAllStringFunc(part, func(link string) string {
			m := pageLink.FindStringSubmatch(link)
			if strings.Contains(m[3], "://") || strings.HasPrefix(m[3], "#") {
				return link
			}
			target, mark, marked := strings.Cut(m[3], "#")
			place, there := s.files[path.Join(path.Dir(from), target)]
			if !there {
				return m[2] + " (`" + path.Join(path.Dir(from), target) + "`)"
			}
			to, err := filepath.Rel(filepath.FromSlash(path.Dir(s.files[from])), filepath.FromSlash(place))
			if err != nil {
				return link
			}
			to = filepath.ToSlash(to)
			if marked {
				to += "#" + mark
			}
			return m[1] + "[" + m[2] + "](" + to + ")"
		})
	})
}

// linksOf returns the pages of the site that a page links to, as files of the repository in the order of the page.
func (s *site) linksOf(from, text string) (list []string) {
	outside(text, func(part string) string {
		for _, m := range pageLink.FindAllStringSubmatch(part, -1) {
			target, _, _ := strings.Cut(m[3], "#")
			to := path.Join(path.Dir(from), target)
			if _, there := s.files[to]; there && m[1] == "" && target != "" && !strings.Contains(m[3], "://") {
				list = append(list, to)
			}
		}
		return part
	})
	return list
}
