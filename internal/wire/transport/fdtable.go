package transport

import (
	"sync"
	"sync/atomic"
)

// fdTable maps file descriptors to values. Lookups take no lock.
type fdTable[T any] struct {
	mu   sync.Mutex // guards changes
	list atomic.Pointer[[]atomic.Pointer[T]]
}

// set stores the value of a descriptor; nil removes it.
func (t *fdTable[T]) set(fd int, v *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.list.Load()
	if list == nil || fd >= len(*list) {
		grown := make([]atomic.Pointer[T], max(64, 2*fd))
		if list != nil {
			for i := range *list {
				grown[i].Store((*list)[i].Load())
			}
		}
		list = &grown
		t.list.Store(list)
	}
	(*list)[fd].Store(v)
}

// get returns the value of a descriptor; nil = none.
func (t *fdTable[T]) get(fd int) *T {
	if list := t.list.Load(); list != nil && fd < len(*list) {
		return (*list)[fd].Load()
	}
	return nil
}
