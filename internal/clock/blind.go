package clock

import "sort"

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

// at is tick i of the log, counted over all that were added.
func (l *blindLog) at(i int) *blindTick { return &l.ring[i%blindTicks] }

// find is the number of the last kept tick that begins before an instant; below that of the first kept one if there is none.
func (l *blindLog) find(at int64) int {
	first := max(0, l.n-blindTicks)
	return first + sort.Search(l.n-first, func(i int) bool { return l.at(first+i).from >= at }) - 1
}

// unseen bounds for how long before the instant at bytes may have lain there unseen that were read between at and read: the process was
// blind without a pause up to the read. Blind time counts for the tick in which it ended, and what is more than that tick's length
// reaches into the tick before.
func (l *blindLog) unseen(from, at, read int64) int64 {
	if at <= from {
		return 0
	}
	i := l.find(at)
	longest := l.back(i, from, at, 0)
	for j := i + 1; j < l.n && l.at(j).from < read; j++ { // the read may have come in a later tick, after a blind time that began before at
		t := l.at(j)
		longest = max(longest, l.back(j-1, from, t.from, t.blind)-(t.from-at))
	}
	return min(at-from, longest)
}

// back is how long the blind time before pos is, which lies in tick i, at most back to from; credit is blind time that ended after pos.
func (l *blindLog) back(i int, from, pos, credit int64) int64 {
	to := pos
	for first := max(0, l.n-blindTicks); i >= first && pos > from; i-- {
		t := l.at(i)
		credit += t.blind
		if span := pos - t.from; credit < span {
			return to - pos + credit
		}
		credit -= pos - t.from
		pos = t.from
	}
	if pos > from && l.n > blindTicks {
		return to - from // the log does not reach back as far
	}
	return to - pos + credit
}
