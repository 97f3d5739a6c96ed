package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// maxFaults is the number of errors of a file that are shown.
const maxFaults = 10

// manyFaults is the number of errors after which the rest of a file is not read.
const manyFaults = 10_000

// Faults collects the errors of a file, so that the user sees more than the first one.
type Faults struct {
	lines []string
	more  int
}

// Add records one error: its position ("path:line"), the field ("" = the whole row) and the reason.
func (f *Faults) Add(where, field, reason string, args ...any) {
	if len(f.lines) == maxFaults {
		f.more++
		return
	}
	switch {
	case field == "":
	case strings.HasSuffix(where, "]"): // a list item: its field is part of its path
		where += "." + field
		field = ""
	default:
		field += ": "
	}
	f.lines = append(f.lines, where+": "+field+fmt.Sprintf(reason, args...))
}

// Count returns the number of errors recorded.
func (f *Faults) Count() int { return len(f.lines) + f.more }

// Enough reports whether there are enough errors that the rest of the file need not be read.
func (f *Faults) Enough() bool { return f.Count() >= manyFaults }

// Err returns all errors as one error, one line each. It returns nil if there are none.
func (f *Faults) Err() error {
	if len(f.lines) == 0 {
		return nil
	}
	text := strings.Join(f.lines, "\n")
	if f.more > 0 {
		text += fmt.Sprintf("\nand %d more", f.more)
		if f.Enough() {
			text += "; reading stopped here"
		}
	}
	return errors.New(text)
}
