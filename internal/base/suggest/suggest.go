// Package suggest finds the name that a misspelt word stands for.
package suggest

import "strings"

// longestWord is the maximum length of a word to search for: no name is as long.
const longestWord = 80

// Name returns the candidate that differs least from word; empty if all differ by more than a third of the word's letters.
func Name(word string, candidates []string) string {
	bare := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimLeft(s, "-")), "_", "-") }
	w := bare(word)
	if len(w) > longestWord {
		return ""
	}
	best, limit := "", len(w)/3+1
	if len(w) < 4 {
		limit = 2
	}
	for _, c := range candidates {
		if d := distance(w, bare(c)); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance returns the number of edits from a to b: inserting, deleting, replacing a letter, or swapping two neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
