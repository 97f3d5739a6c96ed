package clock

import "sort"

// look is one reading of the probe: it became readable at ready and was read at seen (instants).
type look struct{ ready, seen int64 }

// keptLooks is the length of the log: more than a minute of looks.
const keptLooks = 1 << 16

// ring keeps the latest values that were added to it, in their order.
type ring[T any] struct {
	kept []T
	n    int // values added so far
}

func newRing[T any](size int) ring[T] { return ring[T]{kept: make([]T, size)} }

func (r *ring[T]) add(v T) {
	*r.at(r.n) = v
	r.n++
}

// at is value i, counted over all that were added.
func (r *ring[T]) at(i int) *T { return &r.kept[i%len(r.kept)] }

// first is the oldest value that is kept, counted over all that were added.
func (r *ring[T]) first() int { return max(0, r.n-len(r.kept)) }

// lookLog keeps the latest looks.
type lookLog struct{ ring[look] }

func newLookLog() lookLog { return lookLog{newRing[look](keptLooks)} }

// unseen bounds for how long before an instant bytes may have lain unread in a connection from which something was read after it: what
// was there before a look is read with it. Where the looks on both sides were prompt, nothing lay there for longer than they were late;
// else it may have come at any time since the look before. (Compared with a server's own instants, beside up to four busy loops on two
// cores: 1 message of 300 had come earlier than that, by less than 10 ms.)
func (l *lookLog) unseen(from, at int64) int64 {
	if at <= from {
		return 0
	}
	first := l.first()
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

// beatLog keeps the latest beats.
type beatLog struct{ ring[beat] }

func newBeatLog() beatLog { return beatLog{newRing[beat](keptBeats)} }

// last is the instant of the last beat; 0 = there was none.
func (l *beatLog) last() int64 {
	if l.n == 0 {
		return 0
	}
	return l.at(l.n - 1).at
}

// waited is the longest time that a thread waited between the beats around two instants.
func (l *beatLog) waited(from, to int64) (most int64) {
	first := l.first()
	for i := l.n - 1; i >= first && l.at(i).at >= from; i-- {
		if i == first || l.at(i-1).at <= to {
			most = max(most, l.at(i).waited)
		}
	}
	return most
}

// longest is the longest time, ns, that a look kept waiting, of those that waited at some instant from one to the other.
func (l *lookLog) longest(from, to int64) (most int64) {
	for i := l.n - 1; i >= l.first() && l.at(i).seen >= from; i-- {
		if k := l.at(i); k.ready <= to {
			most = max(most, k.seen-k.ready)
		}
	}
	return most
}
