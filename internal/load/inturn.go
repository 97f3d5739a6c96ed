package load

import "sync"

// oneByOne keeps the promise of Source: the prefetcher of the run, that of a schedule and the mean of the users' turns all ask for shapes, each
// on its own goroutine.
type oneByOne struct {
	Source
	mu *sync.Mutex
}

func (s oneByOne) Shape(i int) (Shape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Source.Shape(i)
}

// inTurn is the source, asked by one goroutine at a time; it grows if that grows.
func inTurn(source Source) Source {
	s := oneByOne{source, &sync.Mutex{}}
	if growing, grows := source.(Growing); grows {
		return struct {
			oneByOne
			Growing
		}{s, growing}
	}
	return s
}
