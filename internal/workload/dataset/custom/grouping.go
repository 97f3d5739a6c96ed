package custom

import (
	"slices"

	"aiperf/internal/workload/dataset/trace"
)

// grouper decides which rows form one conversation, from what it recorded of each row.
type grouper interface {
	note(l *loader, row int, e *entry)
	// done is called after all rows were recorded; nil = each row is a conversation.
	done(x *indexed, l *loader) *membership
}

// gathering returns the grouper of the format. Without its own one, rows are grouped by session id.
func (f Format) gathering() grouper {
	if f.gather != nil {
		return f.gather()
	}
	return &sessionGrouper{names: newRegister(), kinds: map[kind]uint8{}, mixed: map[uint32]uint32{}}
}

// sessionGrouper groups rows by session id, in the order of the sessions' first rows.
type sessionGrouper struct {
	names *register      // session ids
	named column[uint32] // session of each id
	of    column[uint32] // session of each row
	bare  column[uint32] // for each session: number of earlier ones without an id
	none  uint32         // number of sessions without an id

	kinds map[kind]uint8    // number of each kind, by first appearance
	first column[uint8]     // kind of the first row of every session
	mixed map[uint32]uint32 // one row per session whose kind differs from its first row
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
	at, again := uint32(s.bare.len()), false
	if e.ID == "" {
		s.none++
	} else {
		var id uint32
		if id, again = s.names.number(e.ID); again {
			at = *s.named.ref(int(id))
		} else {
			s.named.add(at)
		}
	}
	s.of.add(at)
	if again {
		if first, _ := s.first.at(int(at)); first != s.kinds[k] && len(s.mixed) < maxMixed {
			if _, noted := s.mixed[at]; !noted {
				s.mixed[at] = uint32(row)
			}
		}
		return
	}
	s.first.add(s.kinds[k])
	s.bare.add(s.none - uint32(boolInt(e.ID == "")))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *sessionGrouper) done(x *indexed, l *loader) *membership {
	sessions, all := s.bare.len(), s.of.len()
	x.own = sessions - int(s.none)
	s.names, s.named = nil, column[uint32]{}
	if sessions == all && (x.own == 0 || s.none == 0) {
		return nil
	}
	m := groups(sessions, all, func(row int) int { at, _ := s.of.at(row); return int(at) })
	if x.own > 0 && s.none > 0 {
		m.bare = make([]uint32, sessions)
		for i := range m.bare {
			m.bare[i], _ = s.bare.at(i)
		}
	}
	var mixed []uint32
	for at := range s.mixed {
		mixed = append(mixed, at)
	}
	slices.Sort(mixed)
	for _, at := range mixed {
		first, other := x.row(int(m.rowsOf(int(at))[0])), x.row(int(s.mixed[at]))
		trace.Session{ID: first.ID, Records: []trace.Record{first.prompt, other.prompt}}.Check(&l.faults)
	}
	return m
}
