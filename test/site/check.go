package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
)

// leastPages is the least number of pages that a whole site has.
const leastPages = 50

// check reads the pages of a built site. It returns an error for everything that a page would load from another place, and if a page cannot be searched.
func check(dir string) error {
	var faults []error
	pages := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		for _, from := range loaded(string(text)) {
			faults = append(faults, fmt.Errorf("%s: loads %s", path, from))
		}
		if !strings.Contains(string(text), `data-md-component="search"`) {
			faults = append(faults, fmt.Errorf("%s: no search", path))
		}
		return err
	})
	if pages < leastPages {
		faults = append(faults, fmt.Errorf("%s: %d pages, want at least %d", dir, pages, leastPages))
	}
	return errors.Join(append(faults, err)...)
}

// loaded returns the addresses of other places from which a page loads something; links that a reader follows do not count.
func loaded(page string) (list []string) {
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return list
		}
		if t := z.Token(); (kind == html.StartTagToken || kind == html.SelfClosingTagToken) && t.Data != "a" {
			for _, a := range t.Attr {
				if (a.Key == "src" || a.Key == "href" && t.Data == "link") && (strings.Contains(a.Val, "://") || strings.HasPrefix(a.Val, "//")) {
					list = append(list, a.Val)
				}
			}
		}
	}
}
