package archtest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestThePageShowsTheWings: the table of ARCHITECTURE.md has a row for every wing, in their order, and names every package of it.
func TestThePageShowsTheWings(t *testing.T) {
	page, err := os.ReadFile("../../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var wings []string
	shown := map[string]bool{}
	name := regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)/` \\| ([^|]+) \\|").FindAllStringSubmatch(string(page), -1) {
		wings = append(wings, row[1])
		for _, p := range name.FindAllStringSubmatch(row[2], -1) {
			shown["internal/"+row[1]+"/"+p[1]] = true
		}
	}
	if !slices.Equal(wings, Wings) {
		t.Errorf("the page has the wings %v, want %v", wings, Wings)
	}
	list := packages()
	for name := range list {
		if strings.HasPrefix(name, "internal/") && strings.Count(name, "/") == 2 && !shown[name] {
			t.Errorf("ARCHITECTURE.md does not show %s", name)
		}
	}
	for name := range shown {
		if _, ok := list[name]; !ok {
			t.Errorf("ARCHITECTURE.md shows %s, which does not exist", name)
		}
	}
}
