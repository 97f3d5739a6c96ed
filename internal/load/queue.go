package load

import (
	"container/heap"
	"iter"
	"slices"
)

// queue is first in, first out.
type queue struct {
	list []*ticket
	gone int
}

func (q *queue) len() int { return len(q.list) - q.gone }

func (q *queue) push(t *ticket) {
	if q.gone > 64 && q.gone*2 > len(q.list) {
		n := copy(q.list, q.list[q.gone:])
		clear(q.list[n:])
		q.list, q.gone = q.list[:n], 0
	}
	q.list = append(q.list, t)
}

// head is the oldest, nil if there is none.
func (q *queue) head() *ticket {
	if q.len() == 0 {
		return nil
	}
	return q.list[q.gone]
}

func (q *queue) pop() *ticket {
	t := q.list[q.gone]
	q.list[q.gone] = nil
	q.gone++
	return t
}

// after is the first ticket due after an instant, nil if there is none; the queue must be in the order of what is due.
func (q *queue) after(now int64) *ticket {
	list := q.list[q.gone:]
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

// all gives the tickets from the oldest on.
func (q *queue) all() iter.Seq[*ticket] {
	return func(yield func(*ticket) bool) {
		for _, t := range q.list[q.gone:] {
			if !yield(t) {
				return
			}
		}
	}
}

// schedule is a heap of tickets by the instant at which they want attention.
type schedule []*ticket

func (s *schedule) push(t *ticket) { heap.Push((*byInstant)(s), t) }
func (s *schedule) pop() *ticket   { return heap.Pop((*byInstant)(s)).(*ticket) }

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
