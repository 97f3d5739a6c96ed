package media

import (
	"container/list"
	"runtime"
	"sync"

	"aiperf/internal/conversation"
)

// heldBytes bounds the content that is kept made: what is wanted soon, and what was used and may be used again. It holds a hundred pictures of
// noise, 512 x 512 pixels: the conversations of a run of which nobody said how many there are.
const heldBytes = 96 << 20

// Ahead makes content before it is asked for, on all cores but the one that the scheduler has, and keeps it within a budget of bytes. What it
// does not hold is made when it is needed, equal. Safe for concurrent use.
type Ahead struct {
	part    func(i int) conversation.Part // of item i
	limit   int
	workers int // at most

	mu      sync.Mutex
	held    map[int]*made
	used    *list.List  // of those in held that were taken, the last one first; values are indices
	wanted  []int       // to be made, in order
	late    map[int]int // of those: how often each is wanted and has not been asked for before it was made
	running int
	bytes   int
}

// made is an item that was or is being made.
type made struct {
	part    conversation.Part
	content []byte        // nil while it is being made, and if that failed: the request will tell
	used    *list.Element // nil = not taken yet
}

// NewAhead returns an empty store over items.
func NewAhead(part func(i int) conversation.Part) *Ahead {
	return &Ahead{part: part, limit: heldBytes, workers: max(1, runtime.GOMAXPROCS(0)-1), held: map[int]*made{}, used: list.New(), late: map[int]int{}}
}

// Want asks for items that are needed soon, in that order. It never waits.
func (a *Ahead) Want(items ...int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, i := range items {
		if m := a.held[i]; m == nil {
			a.wanted = append(a.wanted, i)
			a.late[i]++
		} else if m.used != nil { // it is needed again
			a.used.Remove(m.used)
			m.used = nil
		}
	}
	a.start()
}

// Part gives an item. Its content is made already, or will be when it is opened.
func (a *Ahead) Part(i int) conversation.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.held[i]
	if m == nil {
		a.done(i)
		return a.part(i)
	}
	if m.used != nil {
		a.used.MoveToFront(m.used)
	} else {
		m.used = a.used.PushFront(i)
		a.start()
	}
	return m.part
}

// done strikes one wish for an item out; false = there is none. The caller holds mu.
func (a *Ahead) done(i int) bool {
	n := a.late[i]
	if n <= 1 {
		delete(a.late, i)
	} else {
		a.late[i] = n - 1
	}
	return n > 0
}

// start makes more workers if there is work and room. The caller holds mu.
func (a *Ahead) start() {
	for a.running < min(a.workers, len(a.wanted)) && a.room() {
		a.running++
		go a.work()
	}
}

// room drops what was used long ago until the budget is kept, and tells whether it is. The caller holds mu.
func (a *Ahead) room() bool {
	for a.bytes >= a.limit {
		oldest := a.used.Back()
		if oldest == nil {
			return false
		}
		i := a.used.Remove(oldest).(int)
		a.bytes -= len(a.held[i].content)
		delete(a.held, i)
	}
	return true
}

// work makes items until none is wanted or the budget is spent.
func (a *Ahead) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.wanted) > 0 && a.room() {
		i := a.wanted[0]
		a.wanted = a.wanted[1:]
		if !a.done(i) || a.held[i] != nil {
			continue // who wanted it did not wait, or it is there
		}
		m := &made{part: a.part(i)}
		a.held[i] = m
		a.mu.Unlock()
		content, err := m.part.Blob.Bytes()
		a.mu.Lock()
		if err == nil && a.held[i] == m {
			m.content = content
			a.bytes += len(content)
		}
	}
	a.running--
}
