package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// maxFaults is how many faults of a file are shown.
const maxFaults = 10

// manyFaults is how many faults a file may have before nothing more of it is read.
const manyFaults = 10_000

// Faults collects what is wrong with a file, so that the user sees more than the first error.
type Faults struct {
	lines []string
	more  int
}

// Add notes one fault: where ("path:line"), the field ("" = the whole row) and the reason.
func (f *Faults) Add(where, field, reason string, args ...any) {
	if len(f.lines) == maxFaults {
		f.more++
		return
	}
	switch {
	case field == "":
	case strings.HasSuffix(where, "]"): // an item of a list, whose field is part of its path
		where += "." + field
		field = ""
	default:
		field += ": "
	}
	f.lines = append(f.lines, where+": "+field+fmt.Sprintf(reason, args...))
}

// Count is the number of faults noted.
func (f *Faults) Count() int { return len(f.lines) + f.more }

// Enough tells whether there are so many that the rest of the file need not be read.
func (f *Faults) Enough() bool { return f.Count() >= manyFaults }

// Err returns the faults as one error of a line each, nil if there is none.
func (f *Faults) Err() error {
	if len(f.lines) == 0 {
		return nil
	}
	text := strings.Join(f.lines, "\n")
	if f.more > 0 {
		text += fmt.Sprintf("\nand %d more", f.more)
		if f.Enough() {
			text += "; the rest was not read"
		}
	}
	return errors.New(text)
}
