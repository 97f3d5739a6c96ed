package capture

// flow maps offsets in the receiving half of a connection to instants.
type flow struct {
	base   uint32        // sequence number of the first byte of the stream
	opened int64         // instant of the SYN-ACK
	ours   bool          // belongs to a connection of this client
	lost   bool          // given up permanently
	front  uint64        // every byte before it has arrived
	last   int64         // instant of the last mark
	marks  []gapFreeMark // ascending, for the bytes not queried yet
	head   int           // index of the first mark in use
	ahead  []span        // segments beyond front, sorted by start
}

// gapFreeMark says that all bytes up to end had arrived at an instant.
type gapFreeMark struct {
	end     uint64
	at      int64
	gapFree bool // false: the stream had a gap that no packet filled
}

// span is a segment beyond a gap.
type span struct {
	start, end uint64
	at         int64
}

// maxMarks limits the marks, and the segments beyond a gap, that a flow keeps between two queries. A flow that exceeds it is given up.
const maxMarks = 1 << 16

// segment adds n bytes at a sequence number, which arrived at an instant.
func (f *flow) segment(seq uint32, n int, at int64) {
	if n <= 0 || f.lost {
		return
	}
	// The distance to front is below 2 GiB in either direction, however often the sequence number has wrapped (RFC 9293, section 3.4).
	start := int64(f.front) + int64(int32(seq-(f.base+uint32(f.front))))
	end := start + int64(n)
	if end <= int64(f.front) {
		return // retransmitted
	}
	if s := uint64(max(start, int64(f.front))); s > f.front {
		f.storeAhead(span{s, uint64(end), at})
		return
	}
	f.advance(uint64(end), at, true)
}

// advance moves front, and then past the segments held beyond it. Such a segment counts as arrived when front reached it or when it arrived itself,
// whichever is later.
func (f *flow) advance(to uint64, at int64, sure bool) {
	f.front = to
	f.mark(at, sure)
	k := 0
	for ; k < len(f.ahead) && f.ahead[k].start <= f.front; k++ {
		if s := f.ahead[k]; s.end > f.front {
			f.front = s.end
			f.mark(max(at, s.at), sure || s.at >= at)
		}
	}
	if k > 0 {
		f.ahead = f.ahead[:copy(f.ahead, f.ahead[k:])]
	}
}

func (f *flow) mark(at int64, sure bool) {
	if f.lost {
		return
	}
	at = max(at, f.last) // the clocks of the CPUs that receive packets may differ slightly
	f.last = at
	if n := len(f.marks); n > f.head && f.marks[n-1].at == at && f.marks[n-1].gapFree == sure {
		f.marks[n-1].end = f.front
		return
	}
	if f.head > 0 && len(f.marks) == cap(f.marks) {
		f.marks = f.marks[:copy(f.marks, f.marks[f.head:])]
		f.head = 0
	}
	if len(f.marks)-f.head >= maxMarks {
		f.giveUp()
		return
	}
	f.marks = append(f.marks, gapFreeMark{f.front, at, sure})
}

func (f *flow) giveUp() { f.lost, f.marks, f.head, f.ahead = true, nil, 0, nil }

// storeAhead stores a segment beyond a gap, sorted by its start.
func (f *flow) storeAhead(s span) {
	if len(f.ahead) >= maxMarks {
		f.giveUp()
		return
	}
	i := len(f.ahead)
	for i > 0 && f.ahead[i-1].start > s.start { // segments are nearly always in order
		i--
	}
	f.ahead = append(f.ahead, s)
	copy(f.ahead[i+1:], f.ahead[i:])
	f.ahead[i] = s
}

// arrival returns the instant at which the bytes up to a point had arrived. Points must ascend: marks before a point are dropped. A byte that no
// packet showed counts as arrived at the point's Read, which closes the gap.
func (f *flow) arrival(p Point) Arrival {
	if f.lost {
		return Arrival{At: p.Read}
	}
	if p.End > f.front {
		f.advance(p.End, p.Read, false)
	}
	for f.head < len(f.marks) && f.marks[f.head].end < p.End {
		f.head++
	}
	if f.head == len(f.marks) || !f.marks[f.head].gapFree || f.marks[f.head].at > p.Read {
		return Arrival{At: p.Read}
	}
	return Arrival{At: f.marks[f.head].at, Known: true}
}

// through returns the marks up to a point, for callers that do not know yet which offsets they will need. Marks before the point are dropped.
func (f *flow) through(p Point) (list []Mark) {
	if f.lost {
		return []Mark{{End: p.End, At: p.Read}}
	}
	if p.End > f.front {
		f.advance(p.End, p.Read, false)
	}
	for ; f.head < len(f.marks); f.head++ {
		m := f.marks[f.head]
		one := Mark{End: min(m.end, p.End), At: m.at, Known: m.gapFree && m.at <= p.Read}
		if !one.Known {
			one.At = p.Read
		}
		if list = append(list, one); m.end > p.End {
			break
		}
	}
	return list
}
