package custom

import (
	"errors"
	"fmt"
	"sort"

	"aiperf/internal/dataset/rows"
)

// supply gives the rows of a file: all, one after the other, and any again by its place.
type supply interface {
	// each reads the rows in their order and calls take for every one that is right, as long as more says so after each. What is wrong with
	// a row is noted by the loader.
	each(l *loader, take func(at rows.Line, e *entry), more func() bool) error
	// again reads the row that stands skip rows behind the one at a place.
	again(l *loader, at run, skip int) (entry, error)
	Close() error
}

// lineSupply are files of a row a line.
type lineSupply struct {
	format Format
	files  []*rows.Held
	from   []int64 // where the files begin, as if they stood one behind the other
}

// openLines opens files of a row a line.
func openLines(f Format, paths []string) (supply, error) {
	s := &lineSupply{format: f}
	end := int64(0)
	for _, path := range paths {
		file, err := rows.Hold(path)
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
		err := l.heldRows(s.files[k], s.format.known(l), func(r *rows.Row) {
			e := s.format.entry(l, r)
			at := r.Line
			e.size = len(at.Text)
			at.Offset += s.from[k]
			at.Text = nil // the index keeps none
			take(at, &e)
		}, func() bool { on = more(); return on })
		if err != nil {
			return err
		}
	}
	return nil
}

// known are the keys that rows of the format may have; nil = any means something.
func (f Format) known(l *loader) []string {
	if l.PayloadRows {
		return nil
	}
	return f.keys
}

func (s *lineSupply) again(l *loader, at run, skip int) (e entry, err error) {
	k := sort.Search(len(s.from), func(k int) bool { return s.from[k] > at.offset }) - 1
	line, err := s.files[k].At(int(at.line), at.offset-s.from[k], skip)
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

// changed is what becomes of a file that is not what it was when its index was made: nothing true can be sent any more.
func changed(where string, err error) string {
	return fmt.Sprintf("%s was changed while it was used: %v", where, err)
}
