package clock

// blindTick is a stretch of time and for how much of it the process may have been blind.
type blindTick struct {
	from, to int64 // instants
	late     int64 // ns by which beats were late
	blind    int64 // ns, an upper bound; more than to - from where a wait began in an earlier tick
}

// blindTicks is the length of the log: 80 s of ticks of 20 ms.
const blindTicks = 4096

// blindLog keeps the latest ticks, which follow one another without a gap.
type blindLog struct {
	ring [blindTicks]blindTick
	n    int // ticks added so far
}

func (l *blindLog) add(t blindTick) {
	l.ring[l.n%blindTicks] = t
	l.n++
}

// unseen walks back from an instant as long as the ticks passed can be blind from one end to the other: blind time counts for the tick
// in which it ended, and what is more than that tick's length reaches into the tick before.
func (l *blindLog) unseen(from, to int64) int64 {
	if to <= from {
		return 0
	}
	credit, pos := int64(0), to
	for i := l.n - 1; i >= max(0, l.n-blindTicks); i-- {
		t := &l.ring[i%blindTicks]
		if t.from >= to {
			continue
		}
		credit += t.blind
		if pos <= from {
			return to - from
		}
		if span := pos - t.from; credit < span {
			return min(to-from, to-pos+credit)
		}
		credit -= pos - t.from
		pos = t.from
	}
	if l.n < blindTicks { // the log reaches back to the start
		return min(to-from, to-pos+credit)
	}
	return to - from
}
