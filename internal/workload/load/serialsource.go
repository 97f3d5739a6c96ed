package load

import "sync"

// serialSource serialises the calls of a Source, as the interface promises. The prefetcher of the run, the one of a schedule and the computation of
// the mean number of turns all request shapes, each in its own goroutine.
type serialSource struct {
	Source
	mu *sync.Mutex
}

func (s serialSource) Shape(i int) (Shape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Source.Shape(i)
}

// serialize wraps a source so that one goroutine at a time calls it. The result is open-ended if the source is.
func serialize(source Source) Source {
	s := serialSource{source, &sync.Mutex{}}
	if growing, grows := source.(OpenEndedSource); grows {
		return struct {
			serialSource
			OpenEndedSource
		}{s, growing}
	}
	return s
}
