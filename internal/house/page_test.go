package house

import (
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pageFloors reads the table of floors of ARCHITECTURE.md: rows of a number and the packages on that floor.
func pageFloors(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| (-?\d+) \| ([^|]+)\|`)
	name := regexp.MustCompile("`([^`]+)`")
	floors := map[string]int{}
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		floor, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range name.FindAllStringSubmatch(m[2], -1) {
			floors[p[1]] = floor
		}
	}
	return floors
}

func TestThePageShowsTheFloors(t *testing.T) {
	page := pageFloors(t)
	if maps.Equal(page, Floors) {
		return
	}
	for p, floor := range Floors {
		if shown, ok := page[p]; !ok || shown != floor {
			t.Errorf("%s stands on floor %d; ARCHITECTURE.md shows it: %v, on floor %d", p, floor, ok, shown)
		}
	}
	for p := range page {
		if _, ok := Floors[p]; !ok {
			t.Errorf("ARCHITECTURE.md shows %s, which Floors does not have", p)
		}
	}
}
