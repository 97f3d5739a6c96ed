package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// outside finds paths in a test that leave its folder: a literal such as "../../docs/*.md", or such arguments of filepath.Join as "..", "..", "docs".
var outside = regexp.MustCompile("Join\\(\"\\.\\.(?:/[^\"]*)?\"(?:, \"[^\"]*\")*|[\"`]\\.\\.(?:/[^\"`]*)?[\"`]")

// addReaders notes which files and folders outside of its folder the tests of each package name. Of a pattern it takes the part before the first *, and
// of "../x"+name the folder of x, so it notes rather too much. A test that names the root of the module reads every file.
func (g *graph) addReaders() error {
	g.reads = map[string][]string{}
	for name, files := range g.tests {
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(g.root, filepath.FromSlash(file)))
			if err != nil {
				return err
			}
			for _, at := range outsidePaths(path.Dir(file), string(text)) {
				g.reads[at] = append(g.reads[at], name)
			}
		}
	}
	return nil
}

// outsidePaths returns the paths outside of the folder dir that the text of a test names, from the root of the module. A path that leaves the module is its
// root.
func outsidePaths(dir, text string) []string {
	var paths []string
	for _, span := range outside.FindAllStringIndex(text, -1) {
		var parts []string
		for _, p := range strings.Split(strings.TrimPrefix(text[span[0]:span[1]], "Join("), ", ") {
			parts = append(parts, strings.Trim(p, "\"`"))
		}
		at := strings.Join(parts, "/")
		if fixed, _, pattern := strings.Cut(at, "*"); pattern {
			at = path.Dir(fixed + "x")
		} else if strings.HasPrefix(text[span[1]:], "+") || strings.HasPrefix(text[span[1]:], " +") {
			at = path.Dir(at + "x")
		}
		if at = path.Join(dir, at); strings.HasPrefix(at, "..") {
			at = "."
		}
		paths = append(paths, at)
	}
	return paths
}
