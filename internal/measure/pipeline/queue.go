package pipeline

import (
	"sync"
	"time"
)

// Parameters of the queue.
const (
	batchSize  = 32                    // records that a worker takes at once
	batchDelay = 20 * time.Millisecond // how long a record waits for others to be taken with it
)

// queue holds the finished records that wait for a worker. Workers take them in batches: a batch is due when it is full, or some time after its first
// record came. At a low rate, no worker wakes for every single record.
type queue struct {
	mu     sync.Mutex
	filled sync.Cond // there may be something to take
	room   sync.Cond // there may be room
	items  []item
	first  int // index of the oldest record
	limit  int
	most   int  // largest number of records that waited
	due    bool // what the queue holds may be taken
	timed  bool // the timer runs that makes them due
	closed bool
}

func (q *queue) init(limit int) {
	q.limit = limit
	q.filled.L, q.room.L = &q.mu, &q.mu
}

// len returns how many records wait. The caller holds mu.
func (q *queue) len() int { return len(q.items) - q.first }

// batch returns how many records a worker takes at once: less than its share of a small queue.
func (q *queue) batch() int { return max(1, min(batchSize, q.limit/8)) }

// put adds a record if there is room.
func (q *queue) put(it item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.len() >= q.limit {
		return false
	}
	q.add(it)
	return true
}

// wait adds a record once there is room.
func (q *queue) wait(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.len() >= q.limit {
		q.room.Wait()
	}
	q.add(it)
}

// add adds a record. The caller holds mu.
func (q *queue) add(it item) {
	q.items = append(q.items, it)
	n := q.len()
	q.most = max(q.most, n)
	switch {
	case n >= q.batch():
		q.due = true
		if n%q.batch() == 0 {
			q.filled.Signal()
		}
	case !q.due && !q.timed:
		q.timed = true
		time.AfterFunc(batchDelay, q.ripen)
	}
}

// ripen makes the records due that have waited long enough.
func (q *queue) ripen() {
	q.mu.Lock()
	q.timed = false
	q.mu.Unlock()
	q.flush()
}

// flush makes all records due.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.due = q.len() > 0 || q.closed; q.due {
		q.filled.Signal()
	}
}

// take waits for records that are due and returns up to a batch of them, in the given memory. None = the queue is closed and empty.
func (q *queue) take(into []item) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.due {
		q.filled.Wait()
	}
	n := min(q.len(), q.batch())
	into = append(into[:0], q.items[q.first:q.first+n]...)
	clear(q.items[q.first : q.first+n])
	q.first += n
	if left := q.len(); q.first >= left {
		copy(q.items, q.items[q.first:])
		clear(q.items[left:])
		q.items, q.first = q.items[:left], 0
	}
	if q.due = q.len() > 0 || q.closed; q.due {
		q.filled.Signal() // for the others
	}
	q.room.Broadcast()
	return into
}

// close makes everything due. Nothing may be added any more.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.flush()
}

// largest returns the largest number of records that waited.
func (q *queue) largest() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(q.most)
}
