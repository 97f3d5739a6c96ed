package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// code is text between backticks, in which a bar does not end a cell.
var code = regexp.MustCompile("`[^`]*`")

// TestTablesRender: every table of the pages is one table, and all its rows have the cells of its head.
func TestTablesRender(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, page := range append(pages, filepath.Join("..", "..", "..", "ARCHITECTURE.md"), filepath.Join("..", "..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range tableFaults(string(text), &rows) {
			t.Errorf("%s: %s", filepath.Base(page), fault)
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were seen", rows)
	}
	for _, broken := range []string{"| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n", "| a | b |\n|---|---|\n| 1 |\n", "| a | b |\n| 1 | 2 |\n"} {
		if len(tableFaults(broken, new(int))) == 0 {
			t.Errorf("no fault is found in\n%s", broken)
		}
	}
}

// tableFaults lists what keeps the tables of a page from being shown, and counts rows.
func tableFaults(text string, rows *int) (faults []string) {
	lines := strings.Split(text, "\n")
	cells := 0 // of the table that the line before belongs to; 0 = to none
	fenced := false
	for i, line := range lines {
		fenced = fenced != strings.HasPrefix(line, "```")
		if fenced || !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		*rows++
		n := strings.Count(strings.ReplaceAll(code.ReplaceAllString(line, ""), `\|`, ""), "|") - 1
		if cells == 0 {
			cells = n
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "|--") {
				faults = append(faults, "a table without a head: "+line)
			}
		}
		if n != cells {
			faults = append(faults, "a row with other cells than its head: "+line)
		}
	}
	return faults
}
