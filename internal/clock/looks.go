package clock

import "sort"

// look is one reading of the probe: it became readable at ready and was read at seen (instants).
type look struct{ ready, seen int64 }

// keptLooks is the length of the log: more than a minute of looks.
const keptLooks = 1 << 16

// lookLog keeps the latest looks, in their order.
type lookLog struct {
	ring [keptLooks]look
	n    int // looks added so far
}

func (l *lookLog) add(k look) {
	l.ring[l.n%keptLooks] = k
	l.n++
}

// at is look i of the log, counted over all that were added.
func (l *lookLog) at(i int) *look { return &l.ring[i%keptLooks] }

// unseen bounds for how long before an instant bytes may have lain unread in a connection from which something was read after it: what
// was there before a look is read with it. Where the looks on both sides were prompt, nothing lay there for longer than they were late;
// else it may have come at any time since the look before. (Compared with a server's own instants, beside up to four busy loops on two
// cores: 1 message of 300 had come earlier than that, by less than 10 ms.)
func (l *lookLog) unseen(from, at int64) int64 {
	if at <= from {
		return 0
	}
	first := max(0, l.n-keptLooks)
	next := first + sort.Search(l.n-first, func(i int) bool { return l.at(first+i).seen > at }) // the first look after it
	if next == l.n {
		return at - from // nobody has looked since
	}
	if next == first { // nobody looked before it, or that is forgotten
		return at - from
	}
	before, after := l.at(next-1), l.at(next)
	late := max(before.seen-before.ready, after.seen-after.ready)
	if late <= int64(wakeNoise) {
		return min(at-from, late)
	}
	return min(at-from, at-before.seen)
}

// waits are the times, ns, that threads spent on run queues: all together, and of the two that waited longest.
type waits struct{ all, most, second int64 }

// beat is what a beat of the heartbeat found: up to an instant a thread waited so long since the beat before.
type beat struct{ at, waited int64 }

// keptBeats is the length of the log of beats: more than a minute.
const keptBeats = 1 << 12

// beatLog keeps the latest beats, in their order.
type beatLog struct {
	ring [keptBeats]beat
	n    int // beats added so far
}

func (l *beatLog) add(b beat) {
	l.ring[l.n%keptBeats] = b
	l.n++
}

// last is the instant of the last beat; 0 = there was none.
func (l *beatLog) last() int64 {
	if l.n == 0 {
		return 0
	}
	return l.ring[(l.n-1)%keptBeats].at
}

// waited is the longest time that a thread waited between the beats around two instants.
func (l *beatLog) waited(from, to int64) (most int64) {
	for i := l.n - 1; i >= max(0, l.n-keptBeats); i-- {
		b := l.ring[i%keptBeats]
		if b.at < from {
			break
		}
		if i == 0 || i == l.n-keptBeats || l.ring[(i-1)%keptBeats].at <= to {
			most = max(most, b.waited)
		}
	}
	return most
}

// longest is the longest time, ns, that a look kept waiting, of those that waited at some instant from one to the other.
func (l *lookLog) longest(from, to int64) (most int64) {
	for i := l.n - 1; i >= max(0, l.n-keptLooks) && l.at(i).seen >= from; i-- {
		if k := l.at(i); k.ready <= to {
			most = max(most, k.seen-k.ready)
		}
	}
	return most
}
