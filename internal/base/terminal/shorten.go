package terminal

// Shorten returns a text of at most most characters. Of a longer text it returns the beginning and the end, joined by …, because the end
// distinguishes the names of a series.
func Shorten(text string, most int) string {
	runes := []rune(text)
	if most = max(most, 3); len(runes) <= most {
		return text
	}
	head := (most - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}
