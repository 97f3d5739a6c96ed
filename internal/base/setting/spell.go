package setting

import "aiperf/internal/base/lazyregexp"

// Spell returns the user's spelling of a setting, given its key (Row.Key): the flag given, or the line and key of a file. Packages below the command
// line use it to name settings, because they know no flags.
type Spell func(key string) string

// As returns the user's spelling of a key; the key itself if s is nil.
func (s Spell) As(key string) string {
	if s == nil {
		return key
	}
	return s(key)
}

// keyInText matches a key in a text; "{key=value}" means the setting that chooses that value.
var keyInText = lazyregexp.New(`\{[a-z_]+(\.[a-z_]+)*(=[a-z_]+)?\}`)

// Text replaces every {key} of a text by the user's spelling.
func (s Spell) Text(text string) string {
	return keyInText.ReplaceAllStringFunc(text, func(key string) string { return s.As(key[1 : len(key)-1]) })
}
