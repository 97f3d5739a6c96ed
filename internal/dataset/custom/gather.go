package custom

import (
	"slices"

	"aiperf/internal/dataset/trace"
)

// gathering finds out which rows are one conversation, from what it noted of each.
type gathering interface {
	note(l *loader, row int, e *entry)
	// done is called when all rows were noted; nil = each row is a conversation.
	done(x *indexed, l *loader) *membership
}

// gathering is how rows of the format are brought together: by their session ids where it has no other way.
func (f Format) gathering() gathering {
	if f.gather != nil {
		return f.gather()
	}
	return &bySession{names: newRegister(), kinds: map[kind]uint8{}, mixed: map[uint32]uint32{}}
}

// bySession brings rows of one session together, in the order of the sessions' first rows.
type bySession struct {
	names *register      // ids of sessions
	named column[uint32] // sessions of the ids
	of    column[uint32] // session of every row
	bare  column[uint32] // sessions without an id before each
	none  uint32         // sessions without an id

	kinds map[kind]uint8    // numbered as they come
	first column[uint8]     // that of the first row of every session; without a session of two rows of no use
	mixed map[uint32]uint32 // rows whose kind is another, one of a session
}

// kind is how a recorded row says what is sent.
type kind struct{ way, mode string }

// mostMixed bounds the sessions that are noted as mixed: what is wrong with the first ten is told.
const mostMixed = 100

func (s *bySession) note(l *loader, row int, e *entry) {
	k := kind{e.prompt.Way(), string(e.prompt.Mode)}
	if _, met := s.kinds[k]; !met {
		s.kinds[k] = uint8(len(s.kinds))
	}
	at, again := uint32(s.bare.n), false
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
		if first, _ := s.first.at(int(at)); first != s.kinds[k] && len(s.mixed) < mostMixed {
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

func (s *bySession) done(x *indexed, l *loader) *membership {
	sessions, all := s.bare.n, s.of.n
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
		first, other := x.row(int(m.rows[m.first[at]])), x.row(int(s.mixed[at]))
		trace.Session{ID: first.ID, Records: []trace.Record{first.prompt, other.prompt}}.Check(&l.faults)
	}
	return m
}

// groups lists rows by the conversation that they belong to, as they stand.
func groups(conversations, all int, of func(row int) int) *membership {
	m := &membership{rows: make([]uint32, all), first: make([]uint32, conversations+1)}
	for row := range all {
		m.first[of(row)+1]++
	}
	for i := range conversations {
		m.first[i+1] += m.first[i]
	}
	next := slices.Clone(m.first)
	for row := range all {
		at := &next[of(row)]
		m.rows[*at] = uint32(row)
		*at++
	}
	return m
}

// each is one conversation a row, in an order of its own.
func each(order []uint32) *membership {
	m := &membership{rows: order, first: make([]uint32, len(order)+1)}
	for i := range m.first {
		m.first[i] = uint32(i)
	}
	return m
}
