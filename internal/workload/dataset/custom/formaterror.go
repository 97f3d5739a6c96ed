package custom

import (
	"errors"
	"fmt"

	"aiperf/internal/base/setting"
)

// FormatError reports that the format of a file or folder cannot be detected. The user has to name it.
type FormatError struct {
	What    string        // what was found
	Formats string        // the possible formats; "" = What lists them
	Spell   setting.Spell // names the setting for the format
}

// commonRows shows example rows of the most frequent formats.
const commonRows = `
  the most common formats, with one JSON object per line:
    single_turn     {"text": "What is a mutex?"}   (or "prompt", "question")
    multi_turn      {"turns": [{"text": "Hello"}, {"text": "And then?"}]}
    raw_payload     {"messages": [{"role": "user", "content": "Hello"}]}
    mooncake_trace  {"timestamp": 0, "input_length": 512, "output_length": 64}`

func (e *FormatError) Error() string {
	text := e.What + "; give it with " + e.Spell.As("datasets.main.format")
	if e.Formats != "" {
		text += ": " + e.Formats
	}
	return text + commonRows + "\n  prompts under another key or column: " + e.Spell.As("datasets.main.input_column") + " NAME"
}

// withSpelling sets the setting names in a FormatError or columnError.
func withSpelling(err error, as setting.Spell) error {
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

// columnError reports that a table has no prompt column with a usual name.
type columnError struct {
	what  string
	spell setting.Spell // names the setting for the column
}

func (e *columnError) Error() string {
	return e.what + ". Choose one with " + e.spell.As("datasets.main.input_column") + " NAME"
}

// noColumnError returns the error that a format has fixed prompt keys, so that the user cannot name a column.
func noColumnError(path string, f Format, as setting.Spell) error {
	return fmt.Errorf("%s: %s has the format %s, whose prompt keys are fixed; the setting works with %s, %s and %s", as.As("datasets.main.input_column"), path, f.Name, singleType, poolType, tableType)
}
