package testrecording

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// codeRow matches a line of Go code in a page: a row of a table, up to the comma after it.
var codeRow = regexp.MustCompile("`([{\"][^`]*,)`")

// CheckPageRows checks that a test file contains the rows that a how-to page shows, letter by letter, and that the page has the given number of rows.
func CheckPageRows(t testing.TB, page, source string, rows int) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	found := codeRow.FindAllStringSubmatch(string(text), -1)
	if len(found) != rows {
		t.Fatalf("%s: %d rows, want %d", page, len(found), rows)
	}
	for _, m := range found {
		if !strings.Contains(string(here), m[1]) {
			t.Errorf("%s does not hold the page's\n%s", source, m[1])
		}
	}
}
