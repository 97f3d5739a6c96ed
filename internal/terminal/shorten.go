package terminal

// Shorten is a text of at most so many characters: of a longer one the beginning and the end, which tells names of a series apart, with … in
// between.
func Shorten(text string, most int) string {
	runes := []rune(text)
	if most = max(most, 3); len(runes) <= most {
		return text
	}
	head := (most - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}
