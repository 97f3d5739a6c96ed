package custom

import (
	"errors"
	"fmt"
	"sort"

	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
)

// supply reads the rows of a file: all in order, and any single row again by its position.
type supply interface {
	// each reads the rows in order and calls take for every valid one, until more returns false. The loader records the errors of rows.
	each(l *loader, take func(at rows.Line, e *entry), more func() bool) error
	// reread reads the row that is skip rows after the start of the run.
	reread(l *loader, at rowstore.Run, skip int) (entry, error)
	Close() error
}

// lineSupply reads files with one row per line.
type lineSupply struct {
	format Format
	files  []*rows.RereadableFile
	from   []int64 // start of each file in the concatenation of all
}

// openLines opens files with one row per line.
func openLines(f Format, paths []string) (supply, error) {
	s := &lineSupply{format: f}
	end := int64(0)
	for _, path := range paths {
		file, err := rows.OpenRereadable(path)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files, s.from = append(s.files, file), append(s.from, end)
		most, err := file.Most()
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		end += most
	}
	return s, nil
}

func (s *lineSupply) each(l *loader, take func(rows.Line, *entry), more func() bool) error {
	on := true
	for k := 0; k < len(s.files) && on; k++ {
		err := l.rereadRows(s.files[k], s.format.known(l), func(r *rows.Row) {
			e := s.format.entry(l, r)
			at := r.Line
			e.size = len(at.Text)
			at.Offset += s.from[k]
			at.Text = nil // the index does not store the text
			take(at, &e)
		}, func() bool { on = more(); return on })
		if err != nil {
			return err
		}
	}
	return nil
}

// known returns the allowed keys of rows; nil = any.
func (f Format) known(l *loader) []string {
	if l.PayloadRows {
		return nil
	}
	return f.keys
}

func (s *lineSupply) reread(l *loader, at rowstore.Run, skip int) (e entry, err error) {
	k := sort.Search(len(s.from), func(k int) bool { return s.from[k] > at.Offset }) - 1
	line, err := s.files[k].At(int(at.Line), at.Offset-s.from[k], skip)
	if err != nil {
		return e, err
	}
	rows.Each(&l.faults, func(r *rows.Row) { e = s.format.entry(l, r) })(line)
	return e, l.faults.Err()
}

// Close closes the files.
func (s *lineSupply) Close() error {
	var err error
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// changed returns the text of the panic after a file was modified since it was indexed. The run cannot continue with correct data.
func changed(where string, err error) string {
	return fmt.Sprintf("%s was changed while aiperf was reading it: %v", where, err)
}
