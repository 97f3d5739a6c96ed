package custom

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/rng"
	"aiperf/internal/setting"
)

// Look is what a file tells before anything is made of it.
type Look struct {
	Format     Format
	Recognised bool   // by its content: nobody named the format
	Records    int    // rows that are not blank; 0 = they were not counted, the file is large
	Turns      int    // of all rows: the requests of one pass; a leading system message is not counted as one; 0 likewise
	Timed      bool   // the first row has a timestamp
	AllTimed   bool   // every row has one
	First      string // where the first row stands, "path:line"

	named  string // format that the user named, "" = recognised
	column string // of the prompts, as the user named it, "" = one of ours
}

// LookInto tells the format of a file, checks that its rows are JSON objects and counts them. column names where the prompts are, "" = nobody said so. as words settings in errors. The error has a line for each of the first ten faults.
func LookInto(path, named, column string, as setting.Spell) (*Look, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist", path)
	case err != nil:
		return nil, err
	}
	l := &Look{Recognised: named == "", named: named, column: column}
	if named == "" {
		if named, err = detect(path, column); err != nil {
			return nil, worded(err, as)
		}
	}
	var known bool
	if l.Format, known = Find(named); !known {
		return nil, CheckType(named)
	}
	switch {
	case info.IsDir() && !l.Format.Folder:
		return nil, notFolder(path, named)
	case column != "" && !l.Format.Column:
		return nil, columnless(path, l.Format, as)
	case l.Format.glance != nil:
		err = worded(l.Format.glance(l, path), as)
	default:
		err = l.rows(path)
	}
	return l, err
}

// AllFaults is what is wrong with a file of which a look has found something wrong: a look sees few faults of a row, who reads the rows sees all.
func AllFaults(path, named string, o Options, seen error) error {
	o.Root = rng.New(nil)
	if !isFolder(path) {
		if _, _, all := Stream(path, named, o, func(Entry) error { return nil }); all != nil {
			return all
		}
	}
	return seen
}

// CheckRecords is what is wrong with rows of a configuration; nil = nothing. Keys that are not known are, unlike in a file: nobody wrote them for another program.
func CheckRecords(named string, o Options) error {
	o.Root, o.strict = rng.New(nil), true
	if named == "" {
		named = "single_turn"
	}
	var errs []error
	for _, p := range o.Records {
		path := p.Name
		if path == "" {
			path = inlinePool
		}
		_, _, err := Stream(path, named, o, func(Entry) error { return nil })
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// notFolder says that a format is read from a file.
func notFolder(path, format string) error {
	return fmt.Errorf("%s is a folder: %s is read from a file", path, format)
}

// rows looks into a file of rows.
func (l *Look) rows(path string) error {
	return l.rowsOf(path, func(r *rows.Row) (glimpse, bool) { return glance(r), true })
}

// rowsOf looks into a file of rows of which see tells what they are, and whether they are taken.
func (l *Look) rowsOf(path string, see func(r *rows.Row) (glimpse, bool)) error {
	var faults dataset.Faults
	take := rows.Each(&faults, func(r *rows.Row) {
		if g, taken := see(r); taken {
			l.add(r.Where, g)
		}
	})
	large, cut := isLarge(path), false
	err := rows.Read(path, func(line rows.Line) bool {
		take(line)
		// The rest of a large file is looked at when it is read, unless it decides how its rows are sent.
		cut = large && (!l.Timed || l.Format.Trace)
		return !cut
	})
	if err == nil {
		err = faults.Err()
	}
	if cut {
		l.Records, l.Turns = 0, 0
	}
	return err
}

// isLarge tells whether the rows of a file stay in it.
func isLarge(path string) bool { return largeFiles([]string{path}) }

// largeFiles tells whether the rows of files stay in them.
func largeFiles(files []string) bool {
	size := int64(0)
	for _, file := range files {
		if n, err := rows.Size(file, keptFile+1); err == nil { // reading it says what is wrong
			size += n
		}
		if size > keptFile {
			return true
		}
	}
	return false
}

// glimpse is what a look sees of a row.
type glimpse struct {
	turns int
	timed bool
}

// add counts a row.
func (l *Look) add(where string, g glimpse) {
	if l.Records++; l.Records == 1 {
		l.First, l.Timed, l.AllTimed = where, g.timed, true
	}
	l.Turns += g.turns
	l.AllTimed = l.AllTimed && g.timed
}

// glanceInputs looks at nothing: the bodies of an inputs.json have no times.
func glanceInputs(l *Look, path string) error {
	l.First = path
	return nil
}

// glance counts the turns of a row and tells whether it has a timestamp, in itself or in its first turn. A system message in front is not
// a turn of its own.
func glance(r *rows.Row) glimpse {
	var list []struct {
		Role      string
		Timestamp *json.RawMessage
	}
	if !r.Has("turns") || json.Unmarshal(r.Raw("turns"), &list) != nil || len(list) == 0 {
		return glimpse{1, r.Has("timestamp")}
	}
	first := 0
	if len(list) > 1 && list[0].Role == "system" && list[0].Timestamp == nil && list[1].Role != "system" {
		first = 1
	}
	return glimpse{len(list) - first, r.Has("timestamp") || list[first].Timestamp != nil}
}
