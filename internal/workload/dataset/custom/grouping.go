package custom

import (
	"slices"

	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// grouper decides which rows form one conversation, from what it recorded of each row.
type grouper interface {
	note(l *loader, row int, e *entry)
	// done is called after all rows were recorded; nil = each row is a conversation.
	done(x *indexed, l *loader) *rowstore.Grouping
}

// gathering returns the grouper of the format. Without its own one, rows are grouped by session id.
func (f Format) gathering() grouper {
	if f.gather != nil {
		return f.gather()
	}
	return &sessionGrouper{names: rowstore.NewNameTable(), kinds: map[kind]uint8{}, mixed: map[uint32]uint32{}}
}

// sessionGrouper groups rows by session id, in the order of the sessions' first rows.
type sessionGrouper struct {
	names           *rowstore.NameTable     // session ids
	sessionOfID     rowstore.Column[uint32] // session of each id
	sessionOf       rowstore.Column[uint32] // session of each row
	withoutIDBefore rowstore.Column[uint32] // for each session: number of earlier ones without an id
	none            uint32                  // number of sessions without an id

	kinds map[kind]uint8         // number of each kind, by first appearance
	first rowstore.Column[uint8] // kind of the first row of every session
	mixed map[uint32]uint32      // one row per session whose kind differs from its first row
}

// kind is how a recorded row specifies its request.
type kind struct{ way, mode string }

// maxMixed limits the number of sessions recorded as mixed. Only the first ten errors are shown.
const maxMixed = 100

func (s *sessionGrouper) note(l *loader, row int, e *entry) {
	k := kind{e.prompt.Way(), string(e.prompt.Mode)}
	if _, met := s.kinds[k]; !met {
		s.kinds[k] = uint8(len(s.kinds))
	}
	at, again := uint32(s.withoutIDBefore.Len()), false
	if e.ID == "" {
		s.none++
	} else {
		var id uint32
		if id, again = s.names.Number(e.ID); again {
			at = *s.sessionOfID.Ref(int(id))
		} else {
			s.sessionOfID.Add(at)
		}
	}
	s.sessionOf.Add(at)
	if again {
		if first, _ := s.first.At(int(at)); first != s.kinds[k] && len(s.mixed) < maxMixed {
			if _, noted := s.mixed[at]; !noted {
				s.mixed[at] = uint32(row)
			}
		}
		return
	}
	s.first.Add(s.kinds[k])
	s.withoutIDBefore.Add(s.none - uint32(boolInt(e.ID == "")))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *sessionGrouper) done(x *indexed, l *loader) *rowstore.Grouping {
	sessions, all := s.withoutIDBefore.Len(), s.sessionOf.Len()
	x.withID = sessions - int(s.none)
	s.names, s.sessionOfID = nil, rowstore.Column[uint32]{}
	if sessions == all && (x.withID == 0 || s.none == 0) {
		return nil
	}
	m := rowstore.GroupRows(sessions, all, func(row int) int { at, _ := s.sessionOf.At(row); return int(at) })
	if x.withID > 0 && s.none > 0 {
		m.Unnamed = make([]uint32, sessions)
		for i := range m.Unnamed {
			m.Unnamed[i], _ = s.withoutIDBefore.At(i)
		}
	}
	var mixed []uint32
	for at := range s.mixed {
		mixed = append(mixed, at)
	}
	slices.Sort(mixed)
	for _, at := range mixed {
		first, other := x.row(int(m.RowsOf(int(at))[0])), x.row(int(s.mixed[at]))
		trace.Session{ID: first.ID, Records: []trace.Record{first.prompt, other.prompt}}.Check(&l.faults)
	}
	return m
}
