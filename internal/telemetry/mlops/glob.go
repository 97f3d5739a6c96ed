package mlops

import (
	"path"
	"strings"
)

// match reports whether a path matches a pattern, part by part.
func match(pattern, name string) (bool, error) {
	return matchParts(strings.Split(strings.TrimPrefix(pattern, "./"), "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) (bool, error) {
	switch {
	case len(pattern) == 0:
		return len(name) == 0, nil
	case pattern[0] == "**":
		for i := range len(name) + 1 {
			if ok, err := matchParts(pattern[1:], name[i:]); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case len(name) == 0:
		return false, nil
	}
	if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
		return false, err
	}
	return matchParts(pattern[1:], name[1:])
}

// CheckPattern returns an error for an invalid pattern.
func CheckPattern(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}
