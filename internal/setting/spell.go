package setting

import "regexp"

// Spell words the key of a setting (Row.Key) as the user wrote it: the flag that was given, or line and key of a file. Packages below the
// command line name settings by it and know no flags.
type Spell func(key string) string

// As is a key in the user's words, the key itself where nobody knows them.
func (s Spell) As(key string) string {
	if s == nil {
		return key
	}
	return s(key)
}

// keyed is a key in a text; with "=value" it stands for what chooses that value.
var keyed = regexp.MustCompile(`\{[a-z_]+(\.[a-z_]+)*(=[a-z_]+)?\}`)

// Text puts the user's words in the place of every {key} of a text.
func (s Spell) Text(text string) string {
	return keyed.ReplaceAllStringFunc(text, func(key string) string { return s.As(key[1 : len(key)-1]) })
}
