package custom

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// FileSample is what a quick scan found in a file, before its data are loaded.
type FileSample struct {
	Format     Format
	Recognised bool   // detected from the content, not named by the user
	Records    int    // rows that are not blank; 0 = not counted, because the file is large
	Turns      int    // requests of one pass over all rows, without leading system messages; 0 = not counted
	Timed      bool   // the first row has a timestamp
	AllTimed   bool   // every row has a timestamp
	First      string // position of the first row, "path:line"

	named  string // format named by the user, "" = detected
	column string // column of the prompts named by the user, "" = one of the usual names
}

// Unseen returns what is known about a file that only another computer can read: its format, and whether the user says that its rows have times.
func Unseen(f Format, timed bool) *FileSample {
	return &FileSample{Format: f, Timed: timed, AllTimed: timed, named: f.Name}
}

// SampleFile detects the format of a file, checks that its rows are JSON objects and counts them. column is the key of the prompts, "" = not given. as
// names the settings in errors. The error has one line for each of the first ten errors.
func SampleFile(path, named, column string, as setting.Spell) (*FileSample, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, boundedfile.Missing(path)
	case err != nil:
		return nil, err
	}
	l := &FileSample{Recognised: named == "", named: named, column: column}
	if named == "" {
		if named, err = detectAny(path, column, nil); err != nil {
			return nil, withSpelling(err, as)
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
		return nil, noColumnError(path, l.Format, as)
	case l.Format.glance != nil:
		err = withSpelling(l.Format.glance(l, path), as)
	default:
		err = l.rows(path)
	}
	return l, err
}

// AllFaults returns all errors of a file in which a scan has found some. A scan finds few errors per row; reading the rows finds all. seen is the
// error of the scan.
func AllFaults(path, named string, o Options, seen error) error {
	o.Root = rng.New(nil)
	if !isFolder(path) {
		if _, _, all := Stream(path, named, o, func(Entry) error { return nil }); all != nil {
			return all
		}
	}
	return seen
}

// CheckRecords returns the errors in the rows of a configuration, or nil. Unlike in a file, unknown keys are errors, because nobody wrote these rows
// for another program.
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

// notFolder returns the error that a format cannot be read from a folder.
func notFolder(path, format string) error {
	return fmt.Errorf("%s is a folder, but the format %s is read from a single file", path, format)
}

// rows scans a file of JSON rows.
func (l *FileSample) rows(path string) error {
	return l.rowsOf(path, func(r *rows.Row) (rowSample, bool) { return glance(r), true })
}

// rowsOf scans a file of JSON rows. see returns what a row holds and whether the row counts.
func (l *FileSample) rowsOf(path string, see func(r *rows.Row) (rowSample, bool)) error {
	var faults dataset.Faults
	take := rows.Each(&faults, func(r *rows.Row) {
		if g, taken := see(r); taken {
			l.add(r.Where, g)
		}
	})
	large, cut := isLarge(path), false
	err := rows.Read(path, func(line rows.Line) bool {
		take(line)
		// The rest of a large file is checked when it is read, unless it decides how the rows are sent.
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

// isLarge reports whether a file is so large that its rows stay in it.
func isLarge(path string) bool { return largeFiles([]string{path}) }

// largeFiles reports whether files are so large that their rows stay in them.
func largeFiles(files []string) bool {
	size := int64(0)
	for _, file := range files {
		if n, err := rows.Size(file, maxFileInMemory+1); err == nil { // reading the file reports the error
			size += n
		}
		if size > maxFileInMemory {
			return true
		}
	}
	return false
}

// rowSample is what a scan finds in a row.
type rowSample struct {
	turns int
	timed bool
}

// add counts a row.
func (l *FileSample) add(where string, g rowSample) {
	if l.Records++; l.Records == 1 {
		l.First, l.Timed, l.AllTimed = where, g.timed, true
	}
	l.Turns += g.turns
	l.AllTimed = l.AllTimed && g.timed
}

// glanceInputs scans nothing: the bodies of an inputs.json file have no times.
func glanceInputs(l *FileSample, path string) error {
	l.First = path
	return nil
}

// glance counts the turns of a row and reports whether the row or its first turn has a timestamp. A leading system message is not counted as a turn.
func glance(r *rows.Row) rowSample {
	var list []struct {
		Role      string
		Timestamp *json.RawMessage
	}
	if !r.Has("turns") || json.Unmarshal(r.Raw("turns"), &list) != nil || len(list) == 0 {
		return rowSample{1, r.Has("timestamp")}
	}
	first := 0
	if len(list) > 1 && list[0].Role == "system" && list[0].Timestamp == nil && list[1].Role != "system" {
		first = 1
	}
	return rowSample{len(list) - first, r.Has("timestamp") || list[first].Timestamp != nil}
}
