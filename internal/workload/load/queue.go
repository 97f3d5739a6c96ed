package load

import (
	"container/heap"
	"iter"
	"slices"
)

// queue is a first-in, first-out queue of tickets.
type queue struct {
	list    []*ticket
	removed int
}

func (q *queue) len() int { return len(q.list) - q.removed }

func (q *queue) push(t *ticket) {
	if q.removed > 64 && q.removed*2 > len(q.list) {
		n := copy(q.list, q.list[q.removed:])
		clear(q.list[n:])
		q.list, q.removed = q.list[:n], 0
	}
	q.list = append(q.list, t)
}

// head returns the oldest ticket; nil = none.
func (q *queue) head() *ticket {
	if q.len() == 0 {
		return nil
	}
	return q.list[q.removed]
}

func (q *queue) pop() *ticket {
	t := q.list[q.removed]
	q.list[q.removed] = nil
	q.removed++
	return t
}

// after returns the first ticket that is due after an instant; nil = none. The queue must be sorted by due.
func (q *queue) after(now int64) *ticket {
	list := q.list[q.removed:]
	i, _ := slices.BinarySearchFunc(list, now, func(t *ticket, now int64) int {
		if t.due <= now {
			return -1
		}
		return 1
	})
	if i == len(list) {
		return nil
	}
	return list[i]
}

// all returns the tickets, oldest first.
func (q *queue) all() iter.Seq[*ticket] {
	return func(yield func(*ticket) bool) {
		for _, t := range q.list[q.removed:] {
			if !yield(t) {
				return
			}
		}
	}
}

// ticketQueue is a heap of tickets by the instant at which they need attention.
type ticketQueue []*ticket

func (s *ticketQueue) push(t *ticket) { heap.Push((*byInstant)(s), t) }
func (s *ticketQueue) pop() *ticket   { return heap.Pop((*byInstant)(s)).(*ticket) }

type byInstant []*ticket

func (s byInstant) Len() int           { return len(s) }
func (s byInstant) Less(i, j int) bool { return s[i].wakeAt < s[j].wakeAt }
func (s byInstant) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *byInstant) Push(x any)        { *s = append(*s, x.(*ticket)) }
func (s *byInstant) Pop() any {
	old := *s
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*s = old[:len(old)-1]
	return t
}
