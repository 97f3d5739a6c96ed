package custom

import (
	"errors"
	"fmt"

	"aiperf/internal/setting"
)

// FormatError says that the format of a file or folder cannot be told; the user has to name it.
type FormatError struct {
	What    string        // what was found
	Formats string        // what there is to name, "" = as it says
	Spell   setting.Spell // words the setting that names it
}

// commonRows shows the formats that most files have.
const commonRows = `
  the commonest formats, one JSON object a line:
    single_turn     {"text": "What is a mutex?"}   (or "prompt", "question")
    multi_turn      {"turns": [{"text": "Hello"}, {"text": "And then?"}]}
    raw_payload     {"messages": [{"role": "user", "content": "Hello"}]}
    mooncake_trace  {"timestamp": 0, "input_length": 512, "output_length": 64}`

func (e *FormatError) Error() string {
	text := e.What + "; name it with " + e.Spell.As("datasets.main.format")
	if e.Formats != "" {
		text += ": " + e.Formats
	}
	return text + commonRows + "\n  another key or column of prompts: " + e.Spell.As("datasets.main.input_column") + " NAME"
}

// worded gives a FormatError the user's words.
func worded(err error, as setting.Spell) error {
	var format *FormatError
	if errors.As(err, &format) {
		format.Spell = as
	}
	var column *columnError
	if errors.As(err, &column) {
		column.spell = as
	}
	return err
}

// columnError says that a table has no column of prompts under a usual name.
type columnError struct {
	what  string
	spell setting.Spell // words the setting that names the column
}

func (e *columnError) Error() string {
	return e.what + ". Name one with " + e.spell.As("datasets.main.input_column") + " NAME"
}

// columnless is the error of a named column for a format whose prompts stand in fixed places.
func columnless(path string, f Format, as setting.Spell) error {
	return fmt.Errorf("%s: %s is %s, whose prompts have fixed keys; it is for %s, %s and %s", as.As("datasets.main.input_column"), path, f.Name, singleType, poolType, tableType)
}
