package golden

import (
	"os"
	"strings"
	"testing"
)

// Followed checks that a test file holds the pieces of Go code of a how-to page letter by letter, and that there are so many of them.
func Followed(t testing.TB, page, source string, pieces int) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")[1:]
	if len(blocks) != pieces {
		t.Fatalf("%s: %d pieces of code, want %d", page, len(blocks), pieces)
	}
	for _, b := range blocks {
		if code, _, _ := strings.Cut(b, "```"); !strings.Contains(string(here), strings.TrimSpace(code)) {
			t.Errorf("%s does not hold the page's\n%s", source, code)
		}
	}
}
