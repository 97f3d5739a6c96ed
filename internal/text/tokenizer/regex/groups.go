package regex

import (
	"unicode/utf8"

	"aiperf/internal/base/budget"
)

// Found is a match of a pattern in a text.
type Found struct {
	Text       string // what matched
	Begin, End int    // in the text that was searched
	groups     map[string]string
}

// Group returns what a named group matched last, empty if it did not match.
func (f *Found) Group(name string) string { return f.groups[name] }

// All returns the matches in a text from left to right. They do not overlap, and empty ones are skipped. If the budget is exceeded, its error is returned.
func (re *Regexp) All(b *budget.Budget, s string) ([]Found, error) {
	var list []Found
	groups := make([]int, 2*len(re.groups))
	fill(groups, -1)
	for i := 0; i < len(s) && b.Err() == nil; {
		end := re.match(b, s, i, groups)
		if end <= i {
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
			if end >= 0 { // an empty match
				fill(groups, -1)
			}
			continue
		}
		found := Found{Text: s[i:end], Begin: i, End: end, groups: map[string]string{}}
		for k, name := range re.groups {
			if from, to := groups[2*k], groups[2*k+1]; from >= 0 && to >= from {
				found.groups[name] = s[from:to]
			}
		}
		fill(groups, -1)
		list, i = append(list, found), end
	}
	return list, b.Err()
}

func fill(list []int, v int) {
	for i := range list {
		list[i] = v
	}
}
