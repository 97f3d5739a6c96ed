package custom

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// Look is what a file tells before anything is made of it.
type Look struct {
	Format     Format
	Recognised bool   // by its content: nobody named the format
	Records    int    // rows that are not blank; 0 for a format that is not built
	Timed      bool   // the first row has a timestamp
	First      string // where the first row stands, "path:line"
}

// LookInto tells the format of a file, checks that its rows are JSON objects and counts them. A format that is not built is not looked
// into. The error has a line for each of the first ten faults.
func LookInto(path, named string) (*Look, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: not built yet; give a file", path)
	}
	l := &Look{Recognised: named == ""}
	if named == "" {
		if named, err = detect(path); err != nil {
			return nil, err
		}
	}
	var known bool
	if l.Format, known = Find(named); !known {
		return nil, CheckType(named)
	}
	if !l.Format.Built() {
		return l, nil
	}
	if l.Format.whole {
		l.First = path
		return l, nil
	}
	var faults dataset.Faults
	err = rows.Objects(path, &faults, func(r *rows.Row) {
		if l.Records++; l.Records == 1 {
			l.First, l.Timed = r.Where, timed(r)
		}
	})
	if err == nil {
		err = faults.Err()
	}
	return l, err
}

// timed tells whether a row has a timestamp, in itself or in its first turn.
func timed(r *rows.Row) bool {
	if r.Has("timestamp") {
		return true
	}
	var turns []struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if json.Unmarshal(r.Raw("turns"), &turns) != nil || len(turns) == 0 {
		return false
	}
	t := turns[0].Timestamp
	return t != nil && string(t) != "null"
}
