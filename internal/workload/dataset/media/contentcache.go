package media

import (
	"container/list"
	"sync"

	"aiperf/internal/base/processors"
	"aiperf/internal/workload/conversation"
)

// maxCachedBytes is the maximum size of the cached content, in bytes: items that are needed soon, and used items that may be needed again. It has room for
// a hundred noise images of 512 x 512 pixels. This is the default number of conversations.
const maxCachedBytes = 96 << 20

// ContentCache generates content before it is needed and caches it within a byte limit. It uses all cores except one, which is left to the scheduler.
// Content that is not cached is generated again when it is needed, with the same bytes. Safe for concurrent use.
type ContentCache struct {
	part  func(i int) conversation.Part // returns item i
	limit int

	mu      sync.Mutex
	workers int // maximum number of workers; 0 = closed
	items   map[int]*cachedItem
	used    *list.List  // used items in held, most recent first; the values are indices
	queue   []int       // items to generate, in order
	late    map[int]int // for each item: how often it is wanted and was not requested before it was generated
	running int
	bytes   int
	working sync.WaitGroup // the workers
}

// cachedItem is an item that was generated or is being generated.
type cachedItem struct {
	part    conversation.Part
	content []byte        // nil while it is generated, or if that failed: the request then reports the error
	used    *list.Element // nil = not used yet
}

// NewContentCache returns an empty cache. part returns item i.
func NewContentCache(part func(i int) conversation.Part) *ContentCache {
	return &ContentCache{part: part, limit: maxCachedBytes, workers: max(1, processors.Cores()-1), items: map[int]*cachedItem{}, used: list.New(), late: map[int]int{}}
}

// Want requests items that are needed soon, in this order. It never blocks.
func (a *ContentCache) Want(items ...int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, i := range items {
		if m := a.items[i]; m == nil {
			a.queue = append(a.queue, i)
			a.late[i]++
		} else if m.used != nil { // the item is needed again
			a.used.Remove(m.used)
			m.used = nil
		}
	}
	a.start()
}

// Part returns an item. Its content is cached, or is generated when it is opened.
func (a *ContentCache) Part(i int) conversation.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.items[i]
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

// Close ends the work ahead, and waits until the workers have finished the items that they are at. Items can still be requested.
func (a *ContentCache) Close() {
	a.mu.Lock()
	a.workers, a.queue = 0, nil
	a.mu.Unlock()
	a.working.Wait()
}

// done removes one request for an item. It returns false if there is none. The caller holds mu.
func (a *ContentCache) done(i int) bool {
	n := a.late[i]
	if n <= 1 {
		delete(a.late, i)
	} else {
		a.late[i] = n - 1
	}
	return n > 0
}

// start starts more workers if there is work and room. The caller holds mu.
func (a *ContentCache) start() {
	for a.running < min(a.workers, len(a.queue)) && a.room() {
		a.running++
		a.working.Go(a.work)
	}
}

// room drops the least recently used content until the limit is met. It reports whether it is. The caller holds mu.
func (a *ContentCache) room() bool {
	for a.bytes >= a.limit {
		oldest := a.used.Back()
		if oldest == nil {
			return false
		}
		i := a.used.Remove(oldest).(int)
		a.bytes -= len(a.items[i].content)
		delete(a.items, i)
	}
	return true
}

// work generates items until none is wanted or the limit is reached.
func (a *ContentCache) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 && a.room() {
		i := a.queue[0]
		a.queue = a.queue[1:]
		if !a.done(i) || a.items[i] != nil {
			continue // the item was requested meanwhile, or is cached
		}
		m := &cachedItem{part: a.part(i)}
		a.items[i] = m
		a.mu.Unlock()
		content, err := m.part.Blob.Bytes()
		a.mu.Lock()
		if err == nil && a.items[i] == m {
			m.content = content
			a.bytes += len(content)
		}
	}
	a.running--
}
