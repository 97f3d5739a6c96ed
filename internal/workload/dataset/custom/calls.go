package custom

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"slices"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
)

// callLayout: a table can only be read from start to end. Its rows are copied to a temporary file, where each one can be read again.
var callLayout = layout{supply: openCalls, gather: func() grouper {
	return &callGrouper{known: map[[2]uint64]uint32{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}}

// callSupply is a table whose rows are copied to a temporary file.
type callSupply struct {
	path    string
	rowFile boundedfile.SpooledBytes
	text    []byte
}

func openCalls(_ Format, files []string) (supply, error) {
	return &callSupply{path: files[0], rowFile: boundedfile.SpooledBytes{Name: files[0]}}, nil
}

func (s *callSupply) each(l *loader, take func(rows.Line, *entry), more func() bool) error {
	sampled, err := l.sampleSessions(s.path)
	if err != nil {
		return err
	}
	floored, speed := 0, cmp.Or(l.Columnar.Speedup, 1)
	var fault error
	err = l.eachCall(s.path, sampled, func(c *call) bool {
		if c.original == 0 {
			floored++
		}
		if l.rowNo++; l.Reading != nil && l.rowNo%rowsPerReport == 0 {
			l.Reading(l.rowNo)
		}
		c.at -= sampled.zero
		if l.outside(&c.at) {
			return more()
		}
		c.at, c.service = c.at/speed, c.service/speed
		l.set.info.FirstHasTime = true
		at := rows.Line{Path: s.path, Offset: s.rowFile.Size()}
		if fault = s.put(c); fault != nil {
			return false
		}
		e := s.entry(l, c)
		e.size = int(s.rowFile.Size() - at.Offset)
		e.service = c.service
		take(at, &e)
		return more()
	})
	if floored > 0 {
		l.warn("%s: %d rows have an output of 0 tokens; their requests ask for 1 token", s.path, floored)
	}
	return cmp.Or(err, fault)
}

// put appends a call to the temporary file: its size, then its fields.
func (s *callSupply) put(c *call) error {
	s.text = append(s.text[:0], 0, 0, 0, 0)
	b := s.text
	b = binary.AppendUvarint(b, uint64(c.row))
	b = binary.AppendUvarint(b, uint64(c.out))
	for _, text := range []string{c.session, string(c.hints), c.prompt} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	s.text = b
	_, err := s.rowFile.Write(b)
	return err
}

// errCall reports a malformed call in the temporary file.
var errCall = errors.New("no call")

func (s *callSupply) reread(l *loader, at rowstore.Run, skip int) (e entry, err error) {
	var size [4]byte
	for offset := at.Offset; ; skip-- {
		if _, err := s.rowFile.ReadAt(size[:], offset); err != nil {
			return e, err
		}
		offset += int64(len(size))
		length := int64(binary.LittleEndian.Uint32(size[:]))
		if skip > 0 {
			offset += length
			continue
		}
		b := make([]byte, length)
		if _, err := s.rowFile.ReadAt(b, offset); err != nil {
			return e, err
		}
		c, ok := readCall(b)
		if !ok {
			return e, errCall
		}
		return s.entry(l, &c), nil
	}
}

// readCall decodes a call of the temporary file.
func readCall(b []byte) (c call, ok bool) {
	ok = true
	number := func() int {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			ok, size = false, 0
		}
		b = b[size:]
		return int(n)
	}
	text := func() string {
		n := number()
		if n < 0 || n > len(b) {
			ok = false
			return ""
		}
		t := string(b[:n])
		b = b[n:]
		return t
	}
	c.row, c.out = number(), number()
	c.session, c.hints, c.prompt = text(), []byte(text()), text()
	return c, ok
}

// entry returns a call as a conversation.
func (s *callSupply) entry(l *loader, c *call) entry {
	return entry{Conversation: conversation.Conversation{ID: c.session, Turns: []conversation.Turn{l.completion(s.path, c)}}}
}

// Close removes the temporary file.
func (s *callSupply) Close() error { return s.rowFile.Close() }

// callGrouper sorts calls by time. The calls of a session become one conversation. With Strict, every call becomes a separate one.
type callGrouper struct {
	known     map[[2]uint64]uint32 // session numbers from 1, by two hashes of the session id
	seeds     [2]maphash.Seed
	sessionOf rowstore.Column[uint32]  // session of every row; 0 = none
	services  rowstore.Column[float64] // ms; used for a closed loop
}

func (g *callGrouper) note(l *loader, _ int, e *entry) {
	session := uint32(0)
	if e.ID != "" {
		key := [2]uint64{maphash.String(g.seeds[0], e.ID), maphash.String(g.seeds[1], e.ID)}
		if session = g.known[key]; session == 0 {
			session = uint32(len(g.known) + 1)
			g.known[key] = session
		}
	}
	g.sessionOf.Add(session)
	if l.Columnar.ClosedLoop {
		g.services.Add(e.service)
	}
}

func (g *callGrouper) done(x *indexed, l *loader) *rowstore.Grouping {
	sessions := len(g.known)
	g.known = nil
	x.dependentTimes = true
	order := make([]uint32, g.sessionOf.Len())
	for row := range order {
		order[row] = uint32(row)
	}
	at := func(row uint32) float64 { ms, _ := x.index.Times.At(int(row)); return ms }
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(at(a), at(b)) })
	closed := l.Columnar.ClosedLoop
	if !closed {
		x.capGaps(order)
	}
	var m *rowstore.Grouping
	if l.Columnar.Strict && !closed {
		m = rowstore.EachRow(order)
		m.Parts = g.parts(order, sessions)
	} else {
		m = g.sessions(order, sessions)
	}
	x.withID = g.countWithoutID(m)
	if closed {
		g.closeLoop(x, m)
	}
	return m
}

// parts numbers the rows within each session.
func (g *callGrouper) parts(order []uint32, sessions int) []uint32 {
	next, parts := make([]uint32, sessions+1), make([]uint32, len(order))
	for i, row := range order {
		if session, _ := g.sessionOf.At(int(row)); session > 0 {
			parts[i] = next[session]
			next[session]++
		}
	}
	return parts
}

// sessions groups rows by session, in the order of the first rows.
func (g *callGrouper) sessions(order []uint32, sessions int) *rowstore.Grouping {
	met, n := make([]uint32, sessions+1), 0 // number of the conversation of each session, from 1; 0 = none yet
	of := make([]uint32, len(order))
	for i, row := range order {
		session, _ := g.sessionOf.At(int(row))
		switch {
		case session > 0 && met[session] > 0:
			of[i] = met[session] - 1
			continue
		case session > 0:
			met[session] = uint32(n + 1)
		}
		of[i] = uint32(n)
		n++
	}
	m := rowstore.GroupRows(n, len(order), func(i int) int { return int(of[i]) })
	for i, at := range m.Rows {
		m.Rows[i] = order[at]
	}
	return m
}

// countWithoutID counts, for every conversation, the earlier ones without an id. It returns the number of conversations with an id.
func (g *callGrouper) countWithoutID(m *rowstore.Grouping) (own int) {
	bare := make([]uint32, m.Len())
	none := uint32(0)
	for i := range bare {
		bare[i] = none
		if session, _ := g.sessionOf.At(int(m.RowsOf(i)[0])); session == 0 {
			none++
		}
	}
	if none > 0 && int(none) < len(bare) {
		m.Unnamed = bare
	}
	return len(bare) - int(none)
}

// closeLoop makes the later calls of a session wait for the previous answer, then for the user's recorded pause.
func (g *callGrouper) closeLoop(x *indexed, m *rowstore.Grouping) {
	firsts := make([]uint32, m.Len())
	for i := range firsts {
		list := m.RowsOf(i)
		firsts[i] = list[0]
		last, _ := x.index.Times.At(int(list[0]))
		for k, row := range list[1:] {
			at, _ := x.index.Times.At(int(row))
			service, _ := g.services.At(int(list[k]))
			pause := max(0, at-last-service)
			x.index.Delays.Set(int(row), *delay(&pause, x.DelayRatio, x.DelayCap), math.NaN())
			x.index.Times.Set(int(row), math.NaN(), math.NaN())
			last = at
		}
	}
	x.capGaps(firsts)
}

// capGaps shortens long pauses between rows. order lists the rows by time.
func (x *indexed) capGaps(order []uint32) {
	limit := x.Columnar.IdleCap
	if limit == nil || len(order) == 0 {
		return
	}
	old, _ := x.index.Times.At(int(order[0]))
	now := old
	for _, row := range order[1:] {
		at, _ := x.index.Times.At(int(row))
		now += min(at-old, *limit)
		old = at
		x.index.Times.Set(int(row), now, math.NaN())
	}
}
