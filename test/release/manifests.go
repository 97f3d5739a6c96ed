package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// templates are the files with placeholders, relative to the root of the repository.
var templates = []string{"packaging/templates/aiperf.rb", "packaging/templates/aiperf.json"}

// sumLine matches a line of checksums.txt for an archive.
var sumLine = regexp.MustCompile(`(?m)^([0-9a-f]{64}) [ *]aiperf_([0-9A-Za-z.+-]+)_(linux|darwin|windows)_(amd64|arm64)\.(?:tar\.gz|zip)$`)

// placeholder matches what is filled in.
var placeholder = regexp.MustCompile(`@[A-Za-z0-9_]+@`)

// writeManifests fills in the Homebrew formula and the Scoop manifest from the checksums of a release. releases is the page of the releases.
func writeManifests(sums, releases, dir string) error {
	text, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, m := range sumLine.FindAllStringSubmatch(string(text), -1) {
		if v := values["@VERSION@"]; v != "" && v != m[2] {
			return fmt.Errorf("%s lists the versions %s and %s", sums, v, m[2])
		}
		values["@VERSION@"] = m[2]
		values["@SUM_"+m[3]+"_"+m[4]+"@"] = m[1]
	}
	if len(values) == 0 {
		return fmt.Errorf("%s lists no archive", sums)
	}
	releases = strings.TrimSuffix(releases, "/")
	values["@BASE@"] = releases + "/download/v" + values["@VERSION@"]
	values["@HOME@"] = strings.TrimSuffix(releases, "/releases")
	for _, name := range templates {
		form, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var missing error
		out := placeholder.ReplaceAllStringFunc(string(form), func(key string) string {
			v, ok := values[key]
			if !ok {
				missing = errors.Join(missing, fmt.Errorf("%s: nothing is known for %s", name, key))
			}
			return v
		})
		if missing != nil {
			return missing
		}
		if err := put(filepath.Join(dir, filepath.Base(name)), out); err != nil {
			return err
		}
	}
	return nil
}
