package custom

import (
	"errors"

	"aiperf/internal/setting"
)

// FormatError says that the format of a file or folder cannot be told; the user has to name it.
type FormatError struct {
	What    string        // what was found
	Formats string        // what there is to name, "" = as it says
	Spell   setting.Spell // words the setting that names it
}

func (e *FormatError) Error() string {
	text := e.What + "; name it with " + e.Spell.As("datasets.main.format")
	if e.Formats != "" {
		text += ": " + e.Formats
	}
	return text
}

// worded gives a FormatError the user's words.
func worded(err error, as setting.Spell) error {
	var format *FormatError
	if errors.As(err, &format) {
		format.Spell = as
	}
	return err
}
