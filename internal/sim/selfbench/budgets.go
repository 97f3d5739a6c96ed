package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// budgets are the figures that the client aims at, by the title of a row: ratios to a baseline, or MB.
type budgets map[string]float64

// tolerance is how much of a budget a ratio may reach: one run on a machine with other work is only approximate.
const tolerance = 2

// readBudgets reads a file of lines "RATIO TITLE"; lines that begin with # are comments. "" = there are no budgets.
func readBudgets(path string) (budgets, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := budgets{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		number, title, _ := strings.Cut(line, " ")
		ratio, err := strconv.ParseFloat(number, 64)
		if err != nil || ratio <= 0 {
			return nil, fmt.Errorf("%s:%d: found %q, expected a ratio above 0 and the title of a row", path, n, line)
		}
		b[strings.TrimSpace(title)] = ratio
	}
	return b, nil
}

// of returns the budget of a row as text; "" = it has none.
func (b budgets) of(title string) string {
	if b[title] == 0 {
		return ""
	}
	return strconv.FormatFloat(b[title], 'g', -1, 64)
}

// exceeded returns a sentence about a ratio that is far above its budget; "" = it is not.
func (b budgets) exceeded(title string, ratio float64) string {
	if most := b[title]; most > 0 && ratio > tolerance*most {
		return fmt.Sprintf("%s: %.2f is more than twice its budget of %g", title, ratio, most)
	}
	return ""
}
